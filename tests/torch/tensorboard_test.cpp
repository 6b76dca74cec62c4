// Goal:   TensorBoard reads the curves and texts that we write, and a resumed run's as one curve.
// Method: its own reader, in Python, on files written here. It lies with the tests that have the
//         wheel's Python.

#include "trireme/monitor/tensorboard.h"
#include "tests/folders.h"

#include <gtest/gtest.h>

#include <chrono>

#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/command_process.h"

namespace trireme::monitor {
namespace {

using namespace std::chrono_literals;

TEST(Tensorboard, ItsOwnReaderReadsWhatWasWritten) {
  const TemporaryFolder folder("tensorboard");
  {
    TensorboardWriter board(folder.path());
    for (int step = 0; step < 400; step += 100) board.scalar("train/loss", 1.0 / (step + 1), step);
    board.text("recipe", "model = \"cnn\"", 0);
    EXPECT_FALSE(board.is_broken());
  }
  {
    TensorboardWriter board(folder.path(), 200);
    board.scalar("train/loss", 0.25, 200);
    board.scalar("rate", 1e-3, 1'000'000'000'000);
  }
  testing::CommandProcess reader(
      {.command = {python_program(), source_folder() + "/tests/torch/tensorboard_reader.py",
                   folder.path().string()},
       .environment = {{"CUDA_VISIBLE_DEVICES", "-1"}}});
  const int code = reader.wait_exit(Deadline::after(100s));
  if (code == 77) GTEST_SKIP() << "no TensorBoard beside this torch (scripts/setup.sh all)";
  EXPECT_EQ(code, 0) << reader.error();
  EXPECT_EQ(reader.out(),
            "rate [(1000000000000, 0.001)]\n"
            "train/loss [(0, 1.0), (100, 0.009901), (200, 0.25)]\n"
            "recipe/text_summary 0 model = \"cnn\"\n");
}

}  // namespace
}  // namespace trireme::monitor
