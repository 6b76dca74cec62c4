// Goal:   the plan of a step for one replica contains only the micro-batches of its ranks,
//         renumbered from 0.
// Method: plans of four ranks on two hosts, written by hand.

#include "trireme/parallel/replica.h"

#include <gtest/gtest.h>

#include "trireme/comm/connect_threads.h"

namespace trireme::parallel {
namespace {

using Numbers = std::vector<int>;

TEST(Replica, PlanContainsOnlyItsOwnMicroBatches) {
  const auto groups = comm::connect_threads(4);
  const StepPlan plan{
      .micro_batch_count = 6, .micro_batches = {1, 4}, .owners = {0, 2, 1, 3, 2, 0}};
  const Replica host{
      .own = nullptr, .parameters = {}, .all = groups[2], .across = groups[2], .members = {0, 2}};
  const StepPlan own = host.plan_of(plan);
  // The replica has micro-batches 0, 1, 4 and 5 of the global batch.
  EXPECT_EQ(own.micro_batch_count, 4);
  EXPECT_EQ(own.owners, (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(own.micro_batches, (Numbers{1, 2}));

  const StepPlan alone = Replica::alone(nullptr, {}, groups[2]).plan_of(plan);
  EXPECT_EQ(alone.micro_batch_count, 2);
  EXPECT_EQ(alone.owners, (Numbers{0, 0}));
  EXPECT_EQ(alone.micro_batches, (Numbers{0, 1}));
}

}  // namespace
}  // namespace trireme::parallel
