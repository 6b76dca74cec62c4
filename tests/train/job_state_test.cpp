// Goal:   what follows a step that was not finite goes from one rank to the others, and steps are
//         compared only where there are any.
// Method: states built by hand.

#include <gtest/gtest.h>

#include <cmath>

#include "trireme/testing/code_of.h"
#include "trireme/train/recipe/data_digest.h"
#include "trireme/train/recovery/job_state.h"

namespace trireme::train {
namespace {

// After a failure, the survivors and new workers have to handle the loss.
TEST(JobState, ALossThatIsNoNumberIsNotForgotten) {
  const JobState none;
  EXPECT_EQ(JobState::from_json(none.to_json()).broken_loss, std::nullopt);
  for (const double loss : {std::nan(""), HUGE_VAL}) {
    const JobState job_state{.progress = {}, .broken_loss = loss, .not_finite = 4};
    const JobState read = JobState::from_json(job_state.to_json());
    ASSERT_TRUE(read.broken_loss);
    EXPECT_FALSE(std::isfinite(*read.broken_loss));
    EXPECT_EQ(read.not_finite, 4);
  }
}

// A death while a job is resumed: one rank has read the checkpoint, another has not.
TEST(JobState, StepsAreComparedOnlyOnceTheJobIsOpen) {
  JobState mine, all;
  all.progress.step = 20;
  EXPECT_NO_THROW(mine.expect_steps_of(all, 0));
  all.is_open = true;
  EXPECT_THROW(mine.expect_steps_of(all, 0), Error);
  mine.progress.step = 20;
  EXPECT_NO_THROW(mine.expect_steps_of(all, 0));
}

// A worker that joins compares its data with those of the job.
TEST(JobState, DataTravelAndAreCompared) {
  const JobState job_state{.progress = {}, .data = {.samples = 37, .learned = 0xfedcba9876543211}};
  const JobState read = JobState::from_json(job_state.to_json());
  EXPECT_EQ(read.data, job_state.data);
  EXPECT_NO_THROW(read.data.expect_data_of(job_state.data, "this worker", "rank 0"));
  for (const DataDigest& other : {DataDigest{.samples = 38, .learned = job_state.data.learned},
                                  DataDigest{.samples = 37, .learned = 1}}) {
    EXPECT_EQ(
        testing::code_of([&] { other.expect_data_of(job_state.data, "this worker", "rank 0"); }),
        ErrorCode::Mismatch);
  }
}

}  // namespace
}  // namespace trireme::train
