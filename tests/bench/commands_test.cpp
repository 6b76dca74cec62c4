// Goal:   every benchmark has help and rejects invalid options; bench codec verifies its results.
// Method: the real commands, as long as they start no program.

#include "bench/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::bench {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

std::string run(cli::Command command, const Words& words, int code) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(command.run(words), code) << command.name();
  ::testing::internal::GetCapturedStderr();
  return ::testing::internal::GetCapturedStdout();
}

TEST(BenchCommands, AllHaveHelpWithAnExample) {
  for (cli::Command (*make)() : {checkpoint_command, codec_command, comm_command, gpu::gpu_command,
                                 recovery::recovery_command, train::train_command}) {
    EXPECT_THAT(run(make(), {"--help"}, 0), HasSubstr("Example:\n  trireme " + make().name()));
    run(make(), {"--nonsense"}, 2);
  }
}

TEST(BenchCommands, CodecVerifiesItsResults) {
  const std::string out =
      run(codec_command(), {"--size", "64KiB", "--bucket", "16KiB", "--seconds", "0"}, 0);
  EXPECT_THAT(out, HasSubstr("int8"));
  EXPECT_THAT(out, HasSubstr("powersgd"));
}

}  // namespace
}  // namespace trireme::bench
