// Goal:   collectives on tensors equal torch's own arithmetic, for every type that travels, for
//         contiguous and strided tensors, and for tensors in shared memory.
// Method: ranks as threads; small tensors whose sums are exact.

#include "trireme/comm/torch/tensor.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "trireme/comm/arena.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm {
namespace {

constexpr at::ScalarType kTypes[] = {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16,
                                     at::kLong,   at::kInt,   at::kChar, at::kByte};

void run(int ranks, const std::function<void(const Group&)>& body) {
  const std::vector<Group> groups = connect_threads(ranks, {.timeout = std::chrono::seconds(20)});
  testing::run_rank_threads(ranks, [&](int rank) { body(groups[static_cast<std::size_t>(rank)]); });
}

TEST(Tensor, EveryTypeThatTravelsHasItsSize) {
  for (at::ScalarType type : kTypes) EXPECT_EQ(size_of(dtype_of(type)), at::elementSize(type));
  EXPECT_THROW(dtype_of(at::kComplexFloat), Error);
}

TEST(Tensor, AllReduceOfEveryType) {
  run(3, [](const Group& group) {
    for (at::ScalarType type : kTypes) {
      const at::Tensor data = at::full({5, 7}, group.rank() + 1, type);
      all_reduce(group, data, ReduceOp::Sum).wait();
      EXPECT_TRUE(data.equal(at::full({5, 7}, 6, type))) << c10::toString(type);
    }
  });
}

TEST(Tensor, StridedTensorsArePackedAndUnpacked) {
  run(2, [](const Group& group) {
    const at::Tensor whole = at::zeros({6, 4}, at::kFloat);
    const at::Tensor part = whole.t().slice(0, 1, 3);  // two columns, as rows
    part.fill_(group.rank() + 1);
    all_reduce(group, part, ReduceOp::Sum).wait();
    const at::Tensor expected = at::zeros({6, 4}, at::kFloat);
    expected.slice(1, 1, 3).fill_(3);
    EXPECT_TRUE(whole.equal(expected));
  });
}

TEST(Tensor, GatherScatterBroadcastAndMessages) {
  run(2, [](const Group& group) {
    const int rank = group.rank();
    const at::Tensor piece = at::full({3}, rank, at::kInt);
    const at::Tensor all = at::empty({2, 3}, at::kInt);
    all_gather(group, all, piece).wait();
    EXPECT_EQ(all.sum().item<int>(), 3);

    const at::Tensor in = at::arange(4, at::kInt).reshape({4});
    const at::Tensor out = at::empty({2}, at::kInt);
    reduce_scatter(group, out, in, ReduceOp::Sum).wait();
    EXPECT_EQ(out[0].item<int>(), 2 * (2 * rank));

    const at::Tensor swapped = at::empty({4}, at::kInt);
    all_to_all(group, swapped, in.add(10 * rank)).wait();
    EXPECT_EQ(swapped[2].item<int>(), 10 + 2 * rank);

    const at::Tensor word = at::full({2}, rank, at::kInt);
    broadcast(group, word, 1).wait();
    EXPECT_EQ(word[0].item<int>(), 1);

    const at::Tensor letter = at::full({2}, 7, at::kInt);
    const at::Tensor read = at::zeros({2}, at::kInt);
    if (rank == 0) send(group, letter, 1, 5).wait();
    if (rank == 1) {
      receive(group, read, 0, 5).wait();
      EXPECT_TRUE(read.equal(letter));
    }
    reduce(group, letter, ReduceOp::Sum, 0).wait();
    EXPECT_EQ(letter[0].item<int>(), rank == 0 ? 14 : 7);
  });
}

// Rank r has, or gets, r + 1 elements; the root's tensor is strided.
TEST(Tensor, GatherAndScatterAlsoOfUnevenParts) {
  run(3, [](const Group& group) {
    const int rank = group.rank(), root = 1;
    const at::Tensor none;
    const at::Tensor wide = at::zeros({3, 2, 2}, at::kFloat), all = wide.select(2, 1);
    const at::Tensor pair = at::full({2}, rank + 1, at::kFloat);
    gather(group, rank == root ? all : none, pair, root).wait();
    if (rank == root) {
      EXPECT_TRUE(all.equal(at::arange(1, 4, at::kFloat).unsqueeze(1).expand({3, 2})));
      EXPECT_EQ(wide.select(2, 0).abs().sum().item<float>(), 0);
    }
    const at::Tensor back = at::zeros({2}, at::kFloat);
    scatter(group, back, rank == root ? all : none, root).wait();
    EXPECT_TRUE(back.equal(pair));

    const std::vector<std::size_t> counts{1, 2, 3};
    const at::Tensor piece = at::full({rank + 1}, rank, at::kInt),
                     own = at::empty({rank + 1}, at::kInt);
    const at::Tensor line = at::empty({6}, at::kInt);
    gather(group, rank == root ? line : none, piece, counts, root).wait();
    if (rank == root) {
      EXPECT_EQ(line.sum().item<int>(), 0 * 1 + 1 * 2 + 2 * 3);
    }
    scatter(group, own, rank == root ? line : none, counts, root).wait();
    EXPECT_TRUE(own.equal(piece));
  });
}

// Rank r sends r + 1 elements to everybody.
TEST(Tensor, AllToAllOfUnevenParts) {
  run(3, [](const Group& group) {
    const auto mine = static_cast<std::size_t>(group.rank() + 1);
    const std::vector<std::size_t> sent(3, mine), received{1, 2, 3};
    const at::Tensor in = at::full({3 * (group.rank() + 1)}, group.rank(), at::kLong);
    const at::Tensor out = at::empty({6}, at::kLong);
    all_to_all(group, out, received, in, sent).wait();
    const std::int64_t expected[] = {0, 1, 1, 2, 2, 2};
    for (int i = 0; i < 6; ++i) EXPECT_EQ(out[i].item<std::int64_t>(), expected[i]);
  });
}

TEST(Tensor, ManyAreReducedAsOne) {
  run(2, [](const Group& group) {
    const at::Tensor whole = at::ones({4, 4}, at::kDouble);
    const std::vector<at::Tensor> many{at::full({3}, group.rank(), at::kDouble),
                                       whole.t().slice(0, 1, 3), at::empty({0}, at::kDouble)};
    all_reduce(group, many, ReduceOp::Sum).wait();
    EXPECT_EQ(many[0].sum().item<double>(), 3);
    EXPECT_EQ(whole.sum().item<double>(), 8 + 2 * 8) << "the strided one is unpacked";
  });
}

// The same bits on one rank and on three, for numbers whose sum depends on the order.
TEST(Tensor, AnOrderedSumIsTheSameOnAnyRanks) {
  constexpr int kSlots = 5;
  const auto share = [](int slot) {
    return at::arange(7, at::kFloat).mul(0.1f + static_cast<float>(slot)).div(3 + slot);
  };
  const auto sum_on = [&](const Group& group) {
    std::vector<int> owners;
    std::vector<TensorShare> mine;
    for (int slot = 0; slot < kSlots; ++slot) {
      owners.push_back((slot * 2) % group.size());
      if (owners.back() == group.rank()) mine.push_back({slot, share(slot)});
    }
    const at::Tensor out = at::empty({7}, at::kFloat);
    ordered_sum(group, out, mine, owners).wait();
    return out;
  };
  const at::Tensor alone = sum_on(Group::solo());
  run(3, [&](const Group& group) { EXPECT_TRUE(sum_on(group).equal(alone)); });
}

TEST(Tensor, LivesInTheArena) {
  run(2, [](const Group& group) {
    at::Tensor shared = empty_in_arena(group, {1000, 3}, at::kFloat);
    EXPECT_TRUE(group.arena()->contains(shared.data_ptr(), shared.nbytes()));
    shared.fill_(1);
    at::Tensor view = shared.slice(0, 10, 990);
    all_reduce(group, view, ReduceOp::Sum).wait();
    EXPECT_EQ(shared.sum().item<float>(), 20 * 3 + 980 * 3 * 2);
    shared = at::Tensor();
    EXPECT_EQ(view[0][0].item<float>(), 2) << "the view keeps the memory";
  });
}

TEST(Tensor, SoloGroupNeedsNoArena) {
  const at::Tensor data = empty_in_arena(Group::solo(), {4}, at::kDouble).fill_(2);
  all_reduce(Group::solo(), data, ReduceOp::Sum).wait();
  EXPECT_EQ(data.sum().item<double>(), 8);
}

}  // namespace
}  // namespace trireme::comm
