// Goal:   the parts of a step's time add up to its duration, and time in which a pass waited for
//         other ranks counts as waiting.
// Method: a timer beside a stopwatch; a pass that claims to have waited for an hour.

#include "trireme/train/report/step_times.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

TEST(StepTimer, PartsAddUpToTheDuration) {
  Stopwatch whole;
  StepTimer timer;
  timer.book(&StepTimes::data);
  timer.begin_passes(5);
  timer.book_pass(&StepTimes::forward, 5);
  timer.book_pass(&StepTimes::backward, 5);
  timer.book(&StepTimes::update);
  const double duration = whole.lap();
  EXPECT_GT(timer.times().total(), 0);
  EXPECT_LE(timer.times().total(), duration);
  EXPECT_EQ(timer.times().wait, 0) << "the seconds before the first pass do not count";
}

TEST(StepTimer, WaitingInAPassIsNotComputing) {
  StepTimer timer;
  timer.begin_passes(100);
  timer.book_pass(&StepTimes::backward, 3700);
  EXPECT_EQ(timer.times().wait, 3600);
  EXPECT_LT(timer.times().backward, -3500) << "the sum is still the duration";
  EXPECT_LT(timer.times().total(), 100);
}

}  // namespace
}  // namespace trireme::train
