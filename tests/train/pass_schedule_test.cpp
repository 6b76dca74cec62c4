// Goal:   gradient accumulation runs the backward pass of a micro-batch before the next forward
// pass. Method: the schedules of no and of two micro-batches, by hand.

#include "trireme/train/pass_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::train {
namespace {

TEST(PassSchedule, RunsMicroBatchesOneAfterAnother) {
  using Kind = Pass::Kind;
  EXPECT_TRUE(forward_backward(0).empty());
  EXPECT_THAT(forward_backward(2),
              ::testing::ElementsAre(Pass{Kind::Forward, 0}, Pass{Kind::Backward, 0},
                                     Pass{Kind::Forward, 1}, Pass{Kind::Backward, 1}));
}

}  // namespace
}  // namespace trireme::train
