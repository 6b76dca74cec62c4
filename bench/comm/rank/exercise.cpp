#include "bench/comm/rank/exercise.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "trireme/base/error.h"

namespace trireme::bench {
namespace {

using comm::OpKind;

constexpr int kRoot = 0;
constexpr std::uint32_t kTag = 1;

std::vector<int> all_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

template <class Kind>
Kind kind_named(const std::string& name, int count) {
  for (int i = 0; i < count; ++i) {
    if (comm::name_of(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
  }
  throw Error(ErrorCode::InvalidInput, "no operation or type is called " + name);
}

}  // namespace

Exercise::Exercise(const comm::Group& group, const Options& options)
    : group_(group), options_(options) {
  const auto n = static_cast<std::size_t>(group.size());
  const std::size_t count = options.bytes / comm::size_of(options.type);
  part_ = count / n;
  const auto make = [&](std::size_t input, std::size_t output) {
    input_ = allocate(input);
    output_ = allocate(output);
  };
  switch (options.op) {
    case OpKind::Barrier:
      break;
    case OpKind::ReduceScatter:
    case OpKind::Scatter:
      make(part_ * n, part_);
      break;
    case OpKind::AllGather:
    case OpKind::Gather:
      make(part_, part_ * n);
      break;
    case OpKind::AllToAll:
      make(part_ * n, part_ * n);
      break;
    case OpKind::Send:
    case OpKind::OrderedSum:
      make(count, count);
      break;
    default:
      input_ = output_ = allocate(count);
      break;
  }
  clear();
}

comm::Span Exercise::allocate(std::size_t count) {
  const std::size_t size = std::max<std::size_t>(1, count * comm::size_of(options_.type));
  if (!options_.is_symmetric) {
    buffers_.push_back(std::make_unique<std::byte[]>(size));
    return {buffers_.back().get(), count, options_.type};
  }
  const auto arena = group_.arena();
  if (!arena) {
    throw Error(ErrorCode::Unsupported, "these ranks share no memory in which to be symmetric");
  }
  pieces_.push_back(arena->allocate(group_.rank(), size));
  return {pieces_.back().data(), count, options_.type};
}

bool Exercise::is_in_place() const noexcept {
  return input_.data == output_.data;
}

void Exercise::clear() {
  for (const comm::Span& span : {input_, output_}) {
    if (span.size() != 0) std::memset(span.data, 0, span.size());
  }
}

std::size_t Exercise::bytes() const noexcept {
  return std::max(input_.size(), output_.size());
}

std::size_t Exercise::bytes_received() const noexcept {
  const auto n = static_cast<std::size_t>(group_.size());
  const std::size_t others = bytes() / n * (n - 1);
  switch (options_.op) {
    case OpKind::AllReduce:
    case OpKind::OrderedSum:
      return 2 * others;
    case OpKind::Broadcast:
      return is_root() ? 0 : bytes();
    case OpKind::Reduce:
    case OpKind::Gather:
      return is_root() ? others : 0;
    case OpKind::Scatter:
      return is_root() ? 0 : output_.size();
    case OpKind::Send:
      return bytes();
    default:
      return others;
  }
}

void Exercise::call() {
  const int n = group_.size();
  switch (options_.op) {
    case OpKind::AllReduce:
      return group_.all_reduce(output_, comm::ReduceOp::Sum).wait();
    case OpKind::Reduce:
      return group_.reduce(output_, comm::ReduceOp::Sum, kRoot).wait();
    case OpKind::ReduceScatter:
      return group_.reduce_scatter(output_, input_, comm::ReduceOp::Sum).wait();
    case OpKind::AllGather:
      return group_.all_gather(output_, input_).wait();
    case OpKind::Gather:
      return group_.gather(output_, input_, kRoot).wait();
    case OpKind::Scatter:
      return group_.scatter(output_, input_, kRoot).wait();
    case OpKind::Broadcast:
      return group_.broadcast(output_, kRoot).wait();
    case OpKind::AllToAll:
      return group_.all_to_all(output_, input_).wait();
    case OpKind::Barrier:
      return group_.barrier().wait();
    case OpKind::OrderedSum: {
      const comm::LogicalShare mine{group_.rank(), input_};
      return group_.ordered_sum(output_, {&mine, 1}, all_ranks(n)).wait();
    }
    default:
      break;
  }
  // Each rank sends to the next rank and receives from the previous one.
  if (n == 1) return;
  comm::Work sent = group_.send(input_, (group_.rank() + 1) % n, kTag);
  group_.receive(output_, (group_.rank() + n - 1) % n, kTag).wait();
  sent.wait();
}

std::vector<Expectation> Exercise::expectations() const {
  const int n = group_.size();
  const int me = group_.rank();
  const std::size_t own = static_cast<std::size_t>(me) * part_;
  const std::size_t whole = output_.count;
  std::vector<Expectation> all;
  switch (options_.op) {
    case OpKind::AllReduce:
    case OpKind::OrderedSum:
      return {{0, whole, 0, all_ranks(n)}};
    case OpKind::Reduce:
      return {{0, whole, 0, is_root() ? all_ranks(n) : std::vector<int>{me}}};
    case OpKind::ReduceScatter:
      return {{0, whole, own, all_ranks(n)}};
    case OpKind::Broadcast:
      return {{0, whole, 0, {kRoot}}};
    case OpKind::Scatter:
      return {{0, whole, own, {kRoot}}};
    case OpKind::Send:
      if (n == 1) return {};
      return {{0, whole, 0, {(me + n - 1) % n}}};
    case OpKind::Barrier:
      return {};
    default:
      break;
  }
  if (options_.op == OpKind::Gather && !is_root()) return {};
  for (int from = 0; from < n; ++from) {
    const std::size_t input_first = options_.op == OpKind::AllToAll ? own : 0;
    all.push_back({static_cast<std::size_t>(from) * part_, part_, input_first, {from}});
  }
  return all;
}

std::optional<std::string> Exercise::check() {
  if (!is_in_place() && output_.size() != 0) std::memset(output_.data, 0x5a, output_.size());
  fill(input_, group_.rank(), group_.size());
  // There is no barrier before or after: a call that required one would be wrong.
  call();
  std::optional<std::string> wrong;
  for (const Expectation& expected : expectations()) {
    wrong = find_wrong(output_, expected, group_.size());
    if (wrong) break;
  }
  clear();
  return wrong;
}

comm::OpKind operation_named(const std::string& name) {
  return kind_named<OpKind>(name, static_cast<int>(OpKind::Receive) + 1);
}

comm::DType type_named(const std::string& name) {
  return kind_named<comm::DType>(name, comm::kDTypeCount);
}

}  // namespace trireme::bench
