// Goal:   a line that one process writes is parsed by another, and a truncated line is rejected.
// Method: round trips; every prefix of a line.

#include "trireme/monitor/step_line.h"

#include <gtest/gtest.h>

#include <limits>

namespace trireme::monitor {
namespace {

TEST(StepLine, IsReadAsItWasWritten) {
  const StepLine step{.nanoseconds = std::numeric_limits<std::int64_t>::max(),
                      .worker = 17,
                      .epoch = 3,
                      .step = 40,
                      .samples = 24,
                      .pass = 1,
                      .cursor = 960,
                      .loss = 0.1};
  const StepLine begin{.is_begin = true, .nanoseconds = 1, .worker = 0};
  for (const StepLine& line : {step, begin}) {
    std::string text = line.to_text();
    ASSERT_EQ(text.back(), '\n');
    text.pop_back();
    EXPECT_EQ(StepLine::parse(text), line) << text;
  }
}

TEST(StepLine, RefusesWhatIsNoLine) {
  for (const char* text : {"", "step", "step 1 2 3 4 5 6 7", "stop 1 2 3 4 5 6 7 0x1p+0",
                           "step 1 2 3 4 5 6 7 0x1p+0 more", "step a 2 3 4 5 6 7 0x1p+0"}) {
    EXPECT_EQ(StepLine::parse(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace trireme::monitor
