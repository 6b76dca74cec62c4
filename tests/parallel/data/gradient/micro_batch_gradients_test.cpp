// Goal:   a step that is run again keeps the gradients of finished micro-batches that this rank
//         still runs, and no others; an unfinished micro-batch spoils the sum that it was added to.
// Method: one rank without communication, with gradients set by hand.

#include "trireme/parallel/data/gradient/micro_batch_gradients.h"

#include <gtest/gtest.h>

#include "tests/parallel/data/part_parameters.h"

namespace trireme::parallel::data {
namespace {

class MicroBatchGradientsTest : public ::testing::Test {
 protected:
  void make(bool is_ordered, bool keeps_finished = true) {
    gradients_.emplace(plan_, parameters_,
                       MicroBatchGradients::Options{
                           .is_ordered = is_ordered,
                           .keeps_finished = keeps_finished,
                           .allocate = [](std::int64_t count) { return torch::zeros({count}); },
                           .full = [this](std::size_t) { ++full_; }});
  }
  void begin(std::vector<int> micro_batches, int count, int kept = 0) {
    const int before = std::exchange(count_, count);
    gradients_->begin_step({.step = 1,
                            .is_repeated = kept != 0,
                            .kept_micro_batches = kept,
                            .micro_batch_count = count,
                            .micro_batches = std::move(micro_batches)},
                           kept != 0, before);
  }
  void take(std::size_t index, float value) {
    const c10::NoGradGuard no_grad;
    gradients_->begin(index);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i].tensor.mutable_grad() = torch::full_like(parameters_[i].tensor, value);
      gradients_->take(i);
    }
  }
  void run(std::size_t index, float value) {
    take(index, value);
    gradients_->end();
  }
  float sum(std::size_t index = 0) { return gradients_->bucket(0, index)[0].item<float>(); }

  std::vector<Parameter> parameters_ = part_parameters();
  BucketPlan plan_ = part_plan(parameters_);
  std::optional<MicroBatchGradients> gradients_;
  int count_ = 0;
  int full_ = 0;
};

TEST_F(MicroBatchGradientsTest, MicroBatchesAreAddedUpAndTheLastOneFillsTheBuckets) {
  make(false);
  begin({0, 1}, 4);
  run(0, 1);
  EXPECT_EQ(full_, 0);
  run(1, 2);
  EXPECT_EQ(full_, 2);
  EXPECT_EQ(sum(), 3);
  EXPECT_TRUE(gradients_->has(1));
  EXPECT_FALSE(gradients_->has(2));
  EXPECT_TRUE(gradients_->is_used(0));
  begin({0, 1}, 4);
  EXPECT_TRUE(gradients_->is_empty()) << "a new step";
}

TEST_F(MicroBatchGradientsTest, ARepeatedStepKeepsFinishedMicroBatches) {
  make(false);
  begin({0, 1}, 4);
  run(0, 1);
  // Every micro-batch is cut into two pieces, and this rank takes over one of another rank's.
  begin({0, 1, 4}, 8, 4);
  EXPECT_TRUE(gradients_->has(0));
  EXPECT_TRUE(gradients_->has(1));
  EXPECT_FALSE(gradients_->has(4));
  run(2, 5);
  EXPECT_EQ(sum(), 6) << "added to the gradients of the finished ones";
}

TEST_F(MicroBatchGradientsTest, AnUnfinishedMicroBatchSpoilsTheSum) {
  make(false);
  begin({0, 1}, 4);
  run(0, 1);
  take(1, 2);
  begin({0, 1}, 4, 4);
  EXPECT_TRUE(gradients_->is_empty());
}

TEST_F(MicroBatchGradientsTest, AnotherAssignmentOrOptionKeepsNothing) {
  make(false);
  begin({0, 1}, 4);
  run(0, 1);
  begin({0, 1}, 4, 8);
  EXPECT_TRUE(gradients_->is_empty()) << "the leader kept an attempt with 8 micro-batches";
  make(false, /*keeps_finished=*/false);
  begin({0}, 2);
  run(0, 1);
  begin({0}, 2, 2);
  EXPECT_TRUE(gradients_->is_empty());
}

TEST_F(MicroBatchGradientsTest, OrderedGradientsStayApartAndMoveToTheirNewIndex) {
  make(true);
  begin({0, 1}, 4);
  run(0, 1);
  run(1, 2);
  EXPECT_EQ(sum(0), 1);
  EXPECT_EQ(sum(1), 2);
  begin({1, 2, 3}, 4, 4);
  EXPECT_TRUE(gradients_->has(1));
  EXPECT_FALSE(gradients_->has(2));
  EXPECT_EQ(sum(0), 2);
}

TEST_F(MicroBatchGradientsTest, ARankThatIsLeftOutContributesZeros) {
  make(false);
  begin({0}, 1);
  run(0, 4);
  gradients_->clear();
  EXPECT_EQ(sum(), 0);
  EXPECT_FALSE(gradients_->is_used(0));
}

}  // namespace
}  // namespace trireme::parallel::data
