// Goal:   collectives on tensors equal torch's own arithmetic, for every type that travels, for
//         contiguous and strided tensors, and for tensors in shared memory.
// Method: ranks as threads; small tensors whose sums are exact.

#include "trireme/comm/torch/tensor.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
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

TEST(Tensor, TypesMapOntoEachOther) {
  for (at::ScalarType type : kTypes) EXPECT_EQ(scalar_type_of(dtype_of(type)), type);
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
