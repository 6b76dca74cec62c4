// Goal:   every finished step and the first micro-batch are lines, and fault points are passed on.
// Method: the logs of two workers in one file.

#include "trireme/train/report/step_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::train {
namespace {

struct Counted final : Faults {
  void reached(FaultPoint, int) override { ++count; }
  int count = 0;
};

TEST(StepLog, AppendsALineAStep) {
  const TemporaryFolder folder("step-log");
  const std::string path = folder.path() / "log";
  Counted counted;
  StepLog first(path, 0, &counted), second(path, 5, nullptr);
  first.reached(kForward, 0);
  first.reached(kForward, 0);
  second.reached(kReduce, 0);
  Progress progress;
  progress.step = 7;
  progress.position = {.epoch = 1, .cursor = 48};
  second.write(3, progress, {.loss = 0.5, .samples = 24});
  EXPECT_EQ(counted.count, 2);

  std::ifstream file(path);
  std::vector<monitor::StepLine> lines;
  for (std::string text; std::getline(file, text);) {
    lines.push_back(monitor::StepLine::parse(text).value());
  }
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].is_begin);
  EXPECT_EQ(lines[0].worker, 0);
  EXPECT_LE(lines[0].nanoseconds, lines[1].nanoseconds);
  lines[1].nanoseconds = 0;
  EXPECT_EQ(lines[1], (monitor::StepLine{.worker = 5,
                                         .epoch = 3,
                                         .step = 7,
                                         .samples = 24,
                                         .pass = 1,
                                         .cursor = 48,
                                         .loss = 0.5}));
}

}  // namespace
}  // namespace trireme::train
