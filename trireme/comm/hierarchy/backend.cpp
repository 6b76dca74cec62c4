#include "trireme/comm/hierarchy/backend.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/comm/algorithm/partition.h"
#include "trireme/comm/algorithm/strides.h"

namespace trireme::comm::hierarchy {
namespace {

constexpr std::uint64_t kInsideSalt = 0x696e73696465u;
constexpr std::uint64_t kAcrossSalt = 0x6163726f7373u;

std::uint64_t salted(std::uint64_t key, std::uint64_t salt, std::uint64_t index) {
  std::uint64_t hash = (key ^ salt) * 0xbf58476d1ce4e5b9u + index + 1;
  hash = (hash ^ hash >> 29) * 0x94d049bb133111ebu;
  return (hash ^ hash >> 31) | 2;
}

// Members by host, in the order in which the hosts first appear.
std::vector<std::vector<int>> by_host(const std::vector<int>& host_of,
                                      const std::vector<int>& members) {
  std::vector<std::vector<int>> hosts;
  std::map<int, std::size_t> index;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const int host = host_of[static_cast<std::size_t>(members[m])];
    const auto [found, is_new] = index.emplace(host, hosts.size());
    if (is_new) hosts.emplace_back();
    hosts[found->second].push_back(static_cast<int>(m));
  }
  return hosts;
}

}  // namespace

std::shared_ptr<Backend> make_backend(const HierarchicalBackend::Parts& parts,
                                      std::vector<int> members, int me, std::uint64_t key) {
  const auto hosts = by_host(parts.host_of, members);
  if (hosts.size() == 1) return parts.inside(members, key);
  if (hosts.size() == members.size()) return parts.across(members, key);
  return std::make_shared<HierarchicalBackend>(parts, std::move(members), me, key);
}

HierarchicalBackend::HierarchicalBackend(Parts parts, std::vector<int> members, int me,
                                         std::uint64_t key)
    : Backend(std::move(members), me), parts_(std::move(parts)), key_(key) {
  hosts_ = by_host(parts_.host_of, members_);
  places_ = members_.size();
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    places_ = std::min(places_, hosts_[h].size());
    const auto found = std::find(hosts_[h].begin(), hosts_[h].end(), me_);
    if (found == hosts_[h].end()) continue;
    my_host_ = h;
    my_place_ = static_cast<std::size_t>(found - hosts_[h].begin());
  }
  const auto jobs = [&](const std::vector<int>& ranks) {
    std::vector<int> out;
    for (int rank_in : ranks) out.push_back(members_[static_cast<std::size_t>(rank_in)]);
    return out;
  };
  if (hosts_[my_host_].size() > 1) {
    inside_ = parts_.inside(jobs(hosts_[my_host_]), salted(key, kInsideSalt, my_host_));
  }
  if (my_place_ < places_) {
    std::vector<int> row;
    for (const auto& host : hosts_) row.push_back(host[my_place_]);
    across_ = parts_.across(jobs(row), salted(key, kAcrossSalt, my_place_));
  }
  flat_ = parts_.across(members_, key);
}

BackendCapabilities HierarchicalBackend::capabilities() const noexcept {
  return {.name = "hierarchical",
          .aborts = true,
          .names_mismatch = true,
          .names_the_dead = true,
          .ordered_sums = true,
          .rounds_once = true,
          .shares_memory = false};
}

std::vector<int> HierarchicalBackend::hosts() const {
  std::vector<int> numbers;
  std::map<int, int> known;  // by the job's host number
  for (const int member : members_) {
    const int host = parts_.host_of[static_cast<std::size_t>(member)];
    numbers.push_back(known.emplace(host, static_cast<int>(known.size())).first->second);
  }
  return numbers;
}

std::shared_ptr<Backend> HierarchicalBackend::subgroup(std::span<const int> ranks,
                                                       std::uint64_t key) {
  std::vector<int> members;
  int me = -1;
  for (int rank_in : ranks) {
    if (rank_in == me_) me = static_cast<int>(members.size());
    members.push_back(members_[static_cast<std::size_t>(rank_in)]);
  }
  if (me < 0) return nullptr;
  return make_backend(parts_, std::move(members), me, key);
}

Task HierarchicalBackend::run(const Operation& op) {
  const Numbers numbers{next_.inside + 1, next_.across + 1};
  const bool sums_halves = is_half(op.request.type) && op.request.reduce != ReduceOp::Min &&
                           op.request.reduce != ReduceOp::Max;
  switch (op.request.kind) {
    case OpKind::AllReduce:
      // 16-bit sums would be rounded twice, so they are sent directly to their owners instead.
      if (sums_halves) return flat_->run(op);
      reserve(2);
      return all_reduce(op, numbers);
    case OpKind::Broadcast:
      reserve(1);
      return broadcast(op, numbers);
    default:
      return flat_->run(op);
  }
}

// Called when the operation is issued, not when its parts begin: every rank of a host must run the
// parts in the same order.
void HierarchicalBackend::reserve(int inside_count) {
  ++next_.across;
  for (int i = 0; i < inside_count; ++i) {
    ++next_.inside;
    if (inside_) inside_->expect(next_.inside);
  }
}

// Runs one part of an operation and records what it waits for.
Task HierarchicalBackend::step(const Operation& whole, Backend* backend, const Operation& part) {
  stages_[whole.sequence] = {backend, &part};
  co_await backend->run(part);
  stages_.erase(whole.sequence);
}

// Slice p belongs to local index p of every host; ranks whose local index does not exist on the
// smallest host own none.
std::vector<std::size_t> HierarchicalBackend::slice_counts(const Operation& op) const {
  std::vector<std::size_t> counts(hosts_[my_host_].size(), 0);
  for (std::size_t p = 0; p < places_; ++p) {
    counts[p] = slice_of(op.request.count, places_, p, line_grain(op.element_size())).count;
  }
  return counts;
}

// A reduce-scatter within hosts, an all-reduce of each slice between hosts, an all-gather within
// hosts.
Task HierarchicalBackend::all_reduce(const Operation& op, Numbers numbers) {
  co_await flat_->greet(op);
  const std::vector<std::size_t> counts = slice_counts(op);
  const bool is_mean = op.request.reduce == ReduceOp::Mean;
  const ReduceOp how = is_mean ? ReduceOp::Sum : op.request.reduce;
  std::byte* slice = op.output + offsets_of(counts)[my_place_] * op.element_size();

  Operation part = op;
  part.sequence = numbers.inside;
  part.request.kind = OpKind::ReduceScatter;
  part.request.reduce = how;
  part.request.layout = layout_hash(counts);
  part.counts = counts;
  part.output = slice;
  if (inside_) co_await step(op, inside_.get(), part);

  if (across_ && counts[my_place_] != 0) {
    Operation row = op;
    row.sequence = numbers.across;
    row.request.count = counts[my_place_];
    row.request.reduce = how;
    row.input = slice;
    row.output = slice;
    co_await step(op, across_.get(), row);
    if (is_mean) {
      co_await combine_in_strides({op.request.type, ReduceOp::Mean, members_.size()}, slice,
                                  nullptr, slice, counts[my_place_]);
    }
  }

  part.sequence = numbers.inside + 1;
  part.request.kind = OpKind::AllGather;
  part.request.reduce = ReduceOp::Sum;
  part.input = slice;
  part.output = op.output;
  if (inside_) co_await step(op, inside_.get(), part);
}

// First within the root's host, so that its first rank has the data; then between the first ranks
// of all hosts; then within every other host.
Task HierarchicalBackend::broadcast(const Operation& op, Numbers numbers) {
  co_await flat_->greet(op);
  std::size_t root_host = 0;
  std::size_t root_place = 0;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    for (std::size_t p = 0; p < hosts_[h].size(); ++p) {
      if (hosts_[h][p] != op.request.root) continue;
      root_host = h;
      root_place = p;
    }
  }
  const bool is_root_host = my_host_ == root_host;
  Operation inside = op;
  inside.sequence = numbers.inside;
  inside.request.root = is_root_host ? static_cast<int>(root_place) : 0;
  if (inside_ && is_root_host) co_await step(op, inside_.get(), inside);
  if (my_place_ == 0) {
    Operation row = op;
    row.sequence = numbers.across;
    row.request.root = static_cast<int>(root_host);
    row.input = is_root_host ? op.output : nullptr;
    co_await step(op, across_.get(), row);
  }
  inside.input = my_place_ == 0 ? op.output : nullptr;
  if (inside_ && !is_root_host) co_await step(op, inside_.get(), inside);
}

Error HierarchicalBackend::stalled(const Operation& op, Duration waited) const {
  const auto stage = stages_.find(op.sequence);
  if (stage == stages_.end()) return flat_->stalled(op, waited);
  return stage->second.backend->stalled(*stage->second.op, waited).with_operation(op.name());
}

std::optional<Error> HierarchicalBackend::failure() const {
  if (inside_) {
    if (auto error = inside_->failure()) return error;
  }
  return flat_->failure();
}

void HierarchicalBackend::give_up() noexcept {
  if (inside_) inside_->give_up();
  if (across_) across_->give_up();
  flat_->give_up();
}

// Connections report departures by themselves.
void HierarchicalBackend::depart(int job_rank) {
  if (inside_) inside_->depart(job_rank);
}

void HierarchicalBackend::announce(const Error& error) noexcept {
  if (inside_) inside_->announce(error);
  flat_->announce(error);
}

}  // namespace trireme::comm::hierarchy
