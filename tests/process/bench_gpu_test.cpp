// Goal:   `trireme bench gpu` fails without a GPU and says what is missing.
// Method: the real program, with all GPUs hidden from it.

#include <filesystem>

#include "tests/folders.h"
#include "tests/process/job_fixture.h"

namespace trireme {
namespace {

class BenchGpuTest : public JobTest {};

TEST_F(BenchGpuTest, WithoutAGpuTheErrorSaysSo) {
  if (!std::filesystem::exists(build_folder() + "/trireme-bench-gpu")) {
    GTEST_SKIP() << "SKIPPED: this build has no torch or no benchmarks";
  }
  Command run({.command = {program(), "bench", "gpu", "--peers"},
               .environment = {{"CUDA_VISIBLE_DEVICES", "-1"}}});
  EXPECT_NE(run.wait_exit(soon()), 0);
  EXPECT_THAT(run.error(), HasSubstr("training on a GPU requires one"));
  EXPECT_THAT(run.error(), HasSubstr("trireme ended with exit code"));
  EXPECT_EQ(run.out(), "");
}

}  // namespace
}  // namespace trireme
