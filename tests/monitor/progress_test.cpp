// Goal:   progress text is correct at the limits and never wider than the terminal.
// Method: call the pure functions for every width.

#include "trireme/monitor/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trireme::monitor {
namespace {

using ::testing::ElementsAre;

ProgressReport sample() {
  return {.step = 500,
          .steps = 2000,
          .epoch = 1.25,
          .loss = 0.34567,
          .learning_rate = 1e-3,
          .rate = 12345,
          .mfu = 0.123,
          .data_wait = 0.02,
          .seconds_left = 65,
          .evaluation = "accuracy 91.20 % at 400",
          .checkpoint_step = 400};
}

TEST(Progress, View) {
  EXPECT_THAT(
      view_of(sample(), {.width = 79}),
      ElementsAre("[==========                              ]  25 % 500/2000  1:05 left",
                  "loss 0.3457  lr 1.00e-03  12.3k samples/s  MFU 12.3 %  2 % waiting for data",
                  "epoch 1.25  accuracy 91.20 % at 400  checkpoint at 400"));
  EXPECT_EQ(line_of(sample()),
            "step 500/2000  loss 0.3457  lr 1.00e-03  12.3k samples/s  MFU 12.3 %  "
            "2 % waiting for data  1:05 left");
  EXPECT_THAT(view_of({.step = 7}, {}), ElementsAre("7", "loss 0.0000  lr 0.00e+00"));
}

TEST(Progress, OfARegressionHasMaeAndR2) {
  ProgressReport progress = sample();
  progress.loss = 1.23456e9;
  progress.mae = 4567.891;
  progress.r2 = -0.25;
  EXPECT_THAT(line_of(progress),
              ::testing::StartsWith("step 500/2000  loss 1.235e+09  mae 4567.89  r2 -0.250  lr "));
  EXPECT_EQ(figure_text(0.001234), "0.001234");
}

TEST(Progress, NoLineIsWiderThanTheTerminal) {
  for (int width = 1; width < 120; ++width) {
    for (const std::string& line : view_of(sample(), {.width = width})) {
      EXPECT_LE(line.size(), static_cast<std::size_t>(width)) << line;
    }
  }
}

TEST(Progress, ColoursOnlyWhenAsked) {
  EXPECT_EQ(view_of(sample(), {.width = 79})[0].find('\x1b'), std::string::npos);
  EXPECT_NE(view_of(sample(), {.width = 79, .has_color = true})[0].find('\x1b'), std::string::npos);
}

TEST(Progress, Numbers) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(0.5), "0.5");
  EXPECT_EQ(number_text(999.4), "999");
  EXPECT_EQ(number_text(999.6), "1.0k");
  EXPECT_EQ(number_text(123456), "123k");
  EXPECT_EQ(number_text(4.56e6), "4.6M");
  EXPECT_EQ(duration_text(59.6), "1:00");
  EXPECT_EQ(duration_text(7259), "2:00:59");
  EXPECT_EQ(duration_text(3 * 86400 + 4 * 3600 + 300), "3 d 04:05");
  EXPECT_EQ(duration_text(-1), "0:00");
  EXPECT_EQ(duration_text(NAN), "?");
}

}  // namespace
}  // namespace trireme::monitor
