// Goal:   slots added up one after the other on one rank give the bits of comm's ordered sum, and
//         any subset of slots gives whole subtrees of its tree, as large as they come.
// Method: random floats of very different sizes, so that another order of addition shows; V = 1 to
//         17 slots, all of them and random subsets.

#include "trireme/parallel/slot_sum.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/random.h"
#include "trireme/comm/group.h"
#include "trireme/comm/kernel/combine.h"
#include "trireme/comm/torch/tensor.h"

namespace trireme::parallel {
namespace {

constexpr int kSlotsMax = 17;

at::Tensor random_tensor(Random& random) {
  at::Tensor made = at::empty({5, 7});
  float* values = made.data_ptr<float>();
  for (std::int64_t i = 0; i < made.numel(); ++i) {
    values[i] = static_cast<float>(random.normal() * std::pow(10.0, random.normal()));
  }
  return made;
}

std::vector<at::Tensor> random_slots(Random& random, int count) {
  std::vector<at::Tensor> all;
  for (int slot = 0; slot < count; ++slot) all.push_back(random_tensor(random));
  return all;
}

at::Tensor tree_sum(const std::vector<at::Tensor>& slots, std::size_t first, std::size_t last) {
  if (last - first == 1) return slots[first].clone();
  const std::size_t middle = comm::tree_middle(first, last);
  return tree_sum(slots, first, middle) + tree_sum(slots, middle, last);
}

TEST(SlotSum, EqualsTheOrderedSumOfAGroup) {
  Random random(1);
  for (int count = 1; count <= kSlotsMax; ++count) {
    const std::vector<at::Tensor> slots = random_slots(random, count);
    SlotSum sum;
    sum.begin(count);
    std::vector<comm::SlotShare> shares;
    for (int slot = 0; slot < count; ++slot) {
      const at::Tensor& mine = slots[static_cast<std::size_t>(slot)];
      sum.add(slot, {mine.clone()});
      shares.push_back({.slot = slot, .data = comm::span(mine)});
    }
    const auto whole = sum.take();
    ASSERT_EQ(whole.size(), 1U) << count;
    const at::Tensor expected = at::empty({5, 7});
    const std::vector<int> owners(static_cast<std::size_t>(count), 0);
    comm::Group::solo().ordered_sum(comm::span(expected), shares, owners).wait();
    EXPECT_TRUE(whole[0].sums.at(0).equal(expected)) << count << " slots";
  }
}

TEST(SlotSum, AnySubsetGivesTheLargestWholeSubtrees) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const int count = 1 + static_cast<int>(random.below(kSlotsMax));
    const std::vector<at::Tensor> slots = random_slots(random, count);
    SlotSum sum;
    sum.begin(count);
    std::vector<int> mine;
    for (int slot = 0; slot < count; ++slot) {
      if (random.below(4) == 0) continue;
      mine.push_back(slot);
      sum.add(slot, {slots[static_cast<std::size_t>(slot)].clone()});
    }
    std::vector<int> covered;
    const auto subtrees = sum.take();
    for (const SlotSum::Subtree& tree : subtrees) {
      for (int slot = tree.first; slot < tree.last; ++slot) covered.push_back(slot);
      const at::Tensor expected = tree_sum(slots, static_cast<std::size_t>(tree.first),
                                           static_cast<std::size_t>(tree.last));
      EXPECT_TRUE(tree.sums.at(0).equal(expected)) << tree.first << " to " << tree.last;
    }
    EXPECT_EQ(covered, mine);
    // No two of them are the halves of one node: a left half of k slots is a power of two, and
    // begins where a tree of twice that would.
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

TEST(SlotSum, UndefinedCountsAsZeroAndSlotsComeInOrder) {
  const at::Tensor one = at::ones({3});
  SlotSum sum;
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
