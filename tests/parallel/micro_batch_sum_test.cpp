// Goal:   the sum of micro-batches on one rank is bitwise equal to the ordered sum of a group, and
//         any subset of micro-batches gives the largest possible complete subtrees.
// Method: random floats of very different magnitudes, so that another order of addition changes the
//         bits; 1 to 17 micro-batches, all of them and random subsets.

#include "trireme/parallel/micro_batch_sum.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/random.h"
#include "trireme/comm/group.h"
#include "trireme/comm/kernel/combine.h"
#include "trireme/comm/torch/tensor.h"

namespace trireme::parallel {
namespace {

constexpr int kMicroBatchesMax = 17;

at::Tensor random_tensor(Random& random) {
  at::Tensor made = at::empty({5, 7});
  float* values = made.data_ptr<float>();
  for (std::int64_t i = 0; i < made.numel(); ++i) {
    values[i] = static_cast<float>(random.normal() * std::pow(10.0, random.normal()));
  }
  return made;
}

std::vector<at::Tensor> random_micro_batches(Random& random, int count) {
  std::vector<at::Tensor> all;
  for (int micro_batch = 0; micro_batch < count; ++micro_batch)
    all.push_back(random_tensor(random));
  return all;
}

at::Tensor tree_sum(const std::vector<at::Tensor>& micro_batches, std::size_t first,
                    std::size_t last) {
  if (last - first == 1) return micro_batches[first].clone();
  const std::size_t middle = comm::tree_middle(first, last);
  return tree_sum(micro_batches, first, middle) + tree_sum(micro_batches, middle, last);
}

TEST(MicroBatchSum, EqualsTheOrderedSumOfAGroup) {
  Random random(1);
  for (int count = 1; count <= kMicroBatchesMax; ++count) {
    const std::vector<at::Tensor> micro_batches = random_micro_batches(random, count);
    MicroBatchSum sum;
    sum.begin(count);
    std::vector<comm::LogicalShare> shares;
    for (int micro_batch = 0; micro_batch < count; ++micro_batch) {
      const at::Tensor& mine = micro_batches[static_cast<std::size_t>(micro_batch)];
      sum.add(micro_batch, {mine.clone()});
      shares.push_back({.logical_rank = micro_batch, .data = comm::span(mine)});
    }
    const auto whole = sum.take();
    ASSERT_EQ(whole.size(), 1U) << count;
    const at::Tensor expected = at::empty({5, 7});
    const std::vector<int> owners(static_cast<std::size_t>(count), 0);
    comm::Group::solo().ordered_sum(comm::span(expected), shares, owners).wait();
    EXPECT_TRUE(whole[0].sums.at(0).equal(expected)) << count << " micro-batches";
  }
}

TEST(MicroBatchSum, AnySubsetGivesTheLargestCompleteSubtrees) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const int count = 1 + static_cast<int>(random.below(kMicroBatchesMax));
    const std::vector<at::Tensor> micro_batches = random_micro_batches(random, count);
    MicroBatchSum sum;
    sum.begin(count);
    std::vector<int> mine;
    for (int micro_batch = 0; micro_batch < count; ++micro_batch) {
      if (random.below(4) == 0) continue;
      mine.push_back(micro_batch);
      sum.add(micro_batch, {micro_batches[static_cast<std::size_t>(micro_batch)].clone()});
    }
    std::vector<int> covered;
    const auto subtrees = sum.take();
    for (const MicroBatchSum::Subtree& tree : subtrees) {
      for (int micro_batch = tree.first; micro_batch < tree.last; ++micro_batch)
        covered.push_back(micro_batch);
      const at::Tensor expected = tree_sum(micro_batches, static_cast<std::size_t>(tree.first),
                                           static_cast<std::size_t>(tree.last));
      EXPECT_TRUE(tree.sums.at(0).equal(expected)) << tree.first << " to " << tree.last;
    }
    EXPECT_EQ(covered, mine);
    // No two subtrees are the halves of one node. The left half of a node has a power of two of
    // micro-batches, and begins at a multiple of twice that number.
    for (std::size_t i = 1; i < subtrees.size(); ++i) {
      const auto& left = subtrees[i - 1];
      const auto& right = subtrees[i];
      if (left.last != right.first) continue;
      const int size = left.last - left.first;
      const bool is_left_half = left.first % (2 * size) == 0 && (size & (size - 1)) == 0;
      const bool is_its_right_half = right.last == std::min(count, left.first + 2 * size);
      EXPECT_FALSE(is_left_half && is_its_right_half) << left.first << " " << right.last;
    }
  }
}

TEST(MicroBatchSum, UndefinedCountsAsZeroAndOrderIsChecked) {
  const at::Tensor one = at::ones({3});
  MicroBatchSum sum;
  sum.begin(3);
  sum.add(0, {at::Tensor(), one.clone(), at::Tensor()});
  sum.add(1, {one.clone(), at::Tensor(), at::Tensor()});
  EXPECT_ANY_THROW(sum.add(1, {one.clone(), one.clone(), one.clone()}));
  sum.add(2, {one.clone(), one.clone(), at::Tensor()});
  const auto whole = sum.take();
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_TRUE(whole[0].sums[0].equal(one * 2));
  EXPECT_TRUE(whole[0].sums[1].equal(one * 2));
  EXPECT_FALSE(whole[0].sums[2].defined());
  EXPECT_TRUE(sum.take().empty());
}

}  // namespace
}  // namespace trireme::parallel
