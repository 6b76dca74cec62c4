#include "trireme/comm/algorithm/ordered_sum.h"

#include <algorithm>
#include <cstring>

#include "trireme/base/check.h"
#include "trireme/comm/algorithm/partition.h"
#include "trireme/comm/algorithm/strides.h"
#include "trireme/comm/group.h"
#include "trireme/comm/kernel/combine.h"
#include "trireme/comm/kernel/convert.h"

namespace trireme::comm {
namespace {

void collect(std::span<const int> owners, int first, int last, std::vector<Partial>& out) {
  const int owner = owners[static_cast<std::size_t>(first)];
  const auto begin = owners.begin() + first;
  if (std::all_of(begin, owners.begin() + last, [&](int o) { return o == owner; })) {
    out.push_back({first, last, owner});
    return;
  }
  const auto middle = static_cast<int>(
      tree_middle(static_cast<std::size_t>(first), static_cast<std::size_t>(last)));
  collect(owners, first, middle, out);
  collect(owners, middle, last, out);
}

DType wide_of(DType type) {
  return is_half(type) ? DType::Float32 : type;
}

// Sums elements [at, at + count) of the logical ranks [first, last), which are all held by this
// rank, along the tree and in the wide type.
void add_up(const Operation& op, const OrderedShares& shares, const Partial& partial,
            std::size_t at, std::size_t count, std::byte* out) {
  const auto logical_ranks = std::span(shares.data)
                                 .subspan(static_cast<std::size_t>(partial.first),
                                          static_cast<std::size_t>(partial.last - partial.first));
  std::vector<const void*> sources;
  for (const void* logical_rank : logical_ranks) {
    sources.push_back(static_cast<const std::byte*>(logical_rank) + at * op.element_size());
  }
  std::vector<std::vector<float>> widened;
  if (is_half(op.request.type)) {
    for (const void*& source : sources) {
      widened.emplace_back(count);
      widen(op.request.type, source, widened.back().data(), count);
      source = widened.back().data();
    }
  }
  void* place = out;
  combine({wide_of(op.request.type), ReduceOp::Sum, 1}, sources, {&place, 1}, count);
}

// Adds up [first, last) in the order of the binary tree, from subtrees that are already summed,
// into `out`.
class TreeSum {
 public:
  TreeSum(std::span<const Partial> partials, std::vector<const std::byte*> sums, DType type,
          std::size_t count)
      : partials_(partials), sums_(std::move(sums)), type_(type), count_(count) {}

  void run(int first, int last, std::byte* out) const {
    for (std::size_t p = 0; p < partials_.size(); ++p) {
      if (partials_[p].first != first || partials_[p].last != last) continue;
      std::memcpy(out, sums_[p], count_ * size_of(type_));
      return;
    }
    const auto middle = static_cast<int>(
        tree_middle(static_cast<std::size_t>(first), static_cast<std::size_t>(last)));
    std::vector<std::byte> right(count_ * size_of(type_));
    run(first, middle, out);
    run(middle, last, right.data());
    const void* sources[] = {out, right.data()};
    void* place = out;
    combine({type_, ReduceOp::Sum, 1}, sources, {&place, 1}, count_);
  }

 private:
  std::span<const Partial> partials_;
  std::vector<const std::byte*> sums_;
  DType type_;
  std::size_t count_;
};

// Divides for a mean and converts from the wide type.
void complete(const Operation& op, std::size_t logical_ranks, std::byte* sum, std::byte* out,
              std::size_t count) {
  const DType wide = wide_of(op.request.type);
  const void* source = sum;
  void* place = sum;
  combine({wide, op.request.reduce, logical_ranks}, {&source, 1}, {&place, 1}, count);
  if (is_half(op.request.type)) {
    narrow(op.request.type, reinterpret_cast<const float*>(sum), out, count);
  } else {
    std::memcpy(out, sum, count * size_of(wide));
  }
}

}  // namespace

std::vector<Partial> partials_of(std::span<const int> owners) {
  std::vector<Partial> partials;
  if (!owners.empty()) collect(owners, 0, static_cast<int>(owners.size()), partials);
  return partials;
}

OrderedShares check_shares(Span out, std::span<const LogicalShare> mine,
                           std::span<const int> owners, int rank, int size) {
  TRIREME_CHECK(!owners.empty(), "an ordered sum over no logical ranks");
  OrderedShares shares{{owners.begin(), owners.end()},
                       std::vector<const void*>(owners.size(), nullptr)};
  for (const LogicalShare& share : mine) {
    const auto logical_rank = static_cast<std::size_t>(share.logical_rank);
    TRIREME_CHECK(share.logical_rank >= 0 && logical_rank < owners.size(), "logical rank ",
                  share.logical_rank);
    TRIREME_CHECK_EQ(owners[logical_rank], rank, "the owner of logical rank ", share.logical_rank);
    TRIREME_CHECK_EQ(share.data.count, out.count, "elements of logical rank ", share.logical_rank);
    TRIREME_CHECK(share.data.type == out.type, "logical rank ", share.logical_rank,
                  " is of another type");
    TRIREME_CHECK(shares.data[logical_rank] == nullptr, "logical rank ", share.logical_rank,
                  " was given twice");
    shares.data[logical_rank] = share.data.data;
  }
  for (std::size_t logical_rank = 0; logical_rank < owners.size(); ++logical_rank) {
    TRIREME_CHECK(owners[logical_rank] >= 0 && owners[logical_rank] < size, "owner ",
                  owners[logical_rank]);
    TRIREME_CHECK(
        out.is_empty() || (owners[logical_rank] == rank) == (shares.data[logical_rank] != nullptr),
        "logical rank ", logical_rank, " of rank ", owners[logical_rank], " is missing");
  }
  return shares;
}

void sum_alone(const Operation& op, const OrderedShares& shares) {
  std::vector<std::byte> sum(op.request.count * size_of(wide_of(op.request.type)));
  add_up(op, shares, {0, static_cast<int>(shares.owners.size()), 0}, 0, op.request.count,
         sum.data());
  complete(op, shares.owners.size(), sum.data(), op.output, op.request.count);
}

Task ordered_sum(Backend& backend, const Operation& op, OrderedShares shares) {
  const DType wide = wide_of(op.request.type);
  const std::size_t element = size_of(wide);
  const auto n = static_cast<std::size_t>(backend.size());
  const auto me = static_cast<std::size_t>(backend.rank());
  const std::size_t count = op.request.count;
  const std::vector<Partial> partials = partials_of(shares.owners);
  const auto slice = [&](std::size_t member) {
    return slice_of(count, n, member, line_grain(element));
  };

  // 1. Cut every partial sum of this rank into slices: all slices for rank 0, then all for rank 1,
  // ...
  Operation deal = op;
  deal.request.kind = OpKind::AllToAll;
  deal.request.part_of = OpKind::OrderedSum;
  deal.request.type = wide;
  deal.request.layout =
      layout_hash(std::vector<std::size_t>(shares.owners.begin(), shares.owners.end()));
  deal.counts.assign(n, 0);
  deal.send_counts.assign(n, 0);
  std::vector<Partial> mine;
  for (const Partial& partial : partials) {
    const auto owner = static_cast<std::size_t>(partial.owner);
    deal.counts[owner] += slice(me).count;
    if (owner != me) continue;
    mine.push_back(partial);
    for (std::size_t m = 0; m < n; ++m) deal.send_counts[m] += slice(m).count;
  }
  std::vector<std::byte> sent(mine.size() * count * element);
  std::vector<std::byte> received(partials.size() * slice(me).count * element);
  deal.input = sent.data();
  deal.output = received.data();
  std::vector<std::byte> piece(slice(me).count * op.element_size());
  Operation gather = op;
  gather.request.kind = OpKind::AllGather;
  gather.request.part_of = OpKind::OrderedSum;
  for (std::size_t m = 0; m < n; ++m) gather.counts.push_back(slice(m).count);
  gather.request.layout = layout_hash(gather.counts);
  gather.sequence = op.sequence + 1;
  gather.input = piece.data();
  gather.output = op.output;
  // Both are created before the first can wait: a backend numbers operations in the order of the
  // calls, and that order must not depend on when the first exchange ends.
  Task dealing = backend.run(deal);
  Task gathering = backend.run(gather);
  std::byte* place = sent.data();
  for (std::size_t m = 0; m < n; ++m) {
    for (const Partial& partial : mine) {
      co_await in_strides(slice(m).count, element, [&](std::size_t first, std::size_t part) {
        add_up(op, shares, partial, slice(m).first + first, part, place + first * element);
      });
      place += slice(m).count * element;
    }
  }
  co_await std::move(dealing);

  // 2. Complete the tree for this rank's slice. Received partial sums are ordered by owner.
  std::vector<std::size_t> next = offsets_of(deal.counts);
  std::vector<const std::byte*> places;
  for (const Partial& partial : partials) {
    std::size_t& offset = next[static_cast<std::size_t>(partial.owner)];
    places.push_back(received.data() + offset * element);
    offset += slice(me).count;
  }
  co_await in_strides(slice(me).count, element, [&](std::size_t first, std::size_t part) {
    std::vector<const std::byte*> here;
    for (const std::byte* sum : places) here.push_back(sum + first * element);
    std::vector<std::byte> sum(part * element);
    TreeSum(partials, std::move(here), wide, part)
        .run(0, static_cast<int>(shares.owners.size()), sum.data());
    complete(op, shares.owners.size(), sum.data(), piece.data() + first * op.element_size(), part);
  });

  // 3. Gather all slices on every rank.
  co_await std::move(gathering);
}

}  // namespace trireme::comm
