// Goal:   every micro-batch has one owner; ranks get even numbers; survivors of a failure keep
//         their micro-batches.
// Method: all small numbers of micro-batches and ranks, and every set of failures of four ranks.

#include "trireme/train/balance/micro_batches.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace trireme::train {
namespace {

TEST(MicroBatches, AreAssignedEvenlyAndConsecutively) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    for (int micro_batches = ranks; micro_batches <= 13; ++micro_batches) {
      const std::vector<int> owners = assign_micro_batches(micro_batches, ranks);
      ASSERT_EQ(owners.size(), static_cast<std::size_t>(micro_batches));
      EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end()));
      for (int rank = 0; rank < ranks; ++rank) {
        const auto count = static_cast<int>(micro_batches_of(rank, owners).size());
        EXPECT_GE(count, micro_batches / ranks);
        EXPECT_LE(count, (micro_batches + ranks - 1) / ranks);
      }
    }
  }
}

TEST(MicroBatches, FollowShares) {
  using ::testing::ElementsAre;
  EXPECT_THAT(assign_micro_batches(8, std::vector<double>{0.75, 0.25}),
              ElementsAre(0, 0, 0, 0, 0, 0, 1, 1));
  EXPECT_THAT(assign_micro_batches(4, std::vector<double>{0.99, 0.01}), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(assign_micro_batches(3, std::vector<double>{0.9, 0.05, 0.05}), ElementsAre(0, 1, 2));
  EXPECT_EQ(assign_micro_batches(7, std::vector<double>(3, 1.0 / 3)).size(), 7u);
  // The weights of a rank's micro-batches add up to its share.
  const std::vector<int> owners{0, 0, 1};
  const auto weights = micro_batch_weights(owners, std::vector<double>{0.5, 0.5});
  EXPECT_EQ(weights[0] + weights[1], weights[2]);
  EXPECT_EQ(micro_batch_weights(owners, std::vector<double>{1.0, 0.0})[2], 1);
}

TEST(MicroBatches, AreSplitIntoPieces) {
  EXPECT_THAT(split_micro_batches(std::vector<int>{0, 2, 1}, 2),
              ::testing::ElementsAre(0, 0, 2, 2, 1, 1));
  EXPECT_THAT(split_micro_batches(std::vector<int>{}, 3), ::testing::IsEmpty());
}

TEST(MicroBatches, OfFailedRanksGoToTheRankWithTheFewest) {
  const std::vector<int> owners = assign_micro_batches(8, 4);
  for (unsigned dead = 0; dead < 15; ++dead) {
    const std::vector<int> before{10, 11, 12, 13};
    std::vector<int> now;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      if ((dead >> rank & 1U) == 0) now.push_back(before[rank]);
    }
    const std::vector<int> assigned = reassign_micro_batches(owners, before, now);
    std::vector<int> counts(now.size());
    for (std::size_t micro_batch = 0; micro_batch < owners.size(); ++micro_batch) {
      const auto owner = static_cast<std::size_t>(owners[micro_batch]);
      if ((dead >> owner & 1U) == 0) {
        EXPECT_EQ(now.at(static_cast<std::size_t>(assigned[micro_batch])), before[owner])
            << "micro-batch " << micro_batch << " moved without need";
      }
      ASSERT_GE(assigned[micro_batch], 0);
      ++counts.at(static_cast<std::size_t>(assigned[micro_batch]));
    }
    EXPECT_LE(*std::max_element(counts.begin(), counts.end()),
              *std::min_element(counts.begin(), counts.end()) + 1);
  }
}

}  // namespace
}  // namespace trireme::train
