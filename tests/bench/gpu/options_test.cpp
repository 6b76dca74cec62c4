// Goal:   the measured program understands the arguments that the benchmark passes to it, and
//         PyTorch gets the sizes of the model.
// Method: real Commands filled from arguments and converted back.

#include "bench/gpu/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::bench::gpu {
namespace {

using ::testing::IsSupersetOf;
using Words = std::vector<std::string>;

struct Reading {
  int code = 0;
  GpuOptions options;
};

Reading read(const Words& words) {
  cli::Command command("x", "", "");
  const auto options = std::make_shared<GpuOptions>();
  add_case_options(command, options);
  add_program_options(command, options);
  command.action([] { return 0; });
  ::testing::internal::CaptureStderr();
  const int code = command.run(words);
  ::testing::internal::GetCapturedStderr();
  return {code, *options};
}

TEST(GpuOptions, TheProgramParsesTheBenchmarksArguments) {
  GpuCase what{.model = "350m",
               .batch = 5,
               .context = 128,
               .max_grad_norm = 1.5,
               .seconds = 0.25,
               .has_profile = true};
  const Reading reading = read(case_words(what));
  ASSERT_EQ(reading.code, 0);
  EXPECT_EQ(reading.options.model, "350m");
  EXPECT_EQ(reading.options.sequences(), 5);
  EXPECT_EQ(reading.options.tokens(), 5 * 128);
  EXPECT_EQ(reading.options.max_grad_norm, 1.5);
  EXPECT_EQ(reading.options.seconds, 0.25);
  EXPECT_TRUE(reading.options.has_profile);
}

TEST(GpuOptions, WithoutABatchItIsThatOfTheModel) {
  EXPECT_EQ(GpuCase{}.sequences(), 64);
  EXPECT_EQ(GpuCase{.model = "1.5b"}.sequences(), 8);
}

TEST(GpuOptions, PyTorchGetsTheSizesOfTheModel) {
  const Words words = peer_words({.model = "350m"}, "compile", "weights");
  EXPECT_THAT(words, IsSupersetOf({"--layers", "24", "--heads", "16", "--width", "1024", "--batch",
                                   "32", "--mode", "compile", "--precision", "weights"}));
}

TEST(GpuOptions, InvalidValuesAreRefused) {
  for (const Words& words : {Words{"--model", "125m"},
                             {"--batch", "0"},
                             {"--context", "0"},
                             {"--max-grad-norm", "-1"},
                             {"--rounds", "0"}}) {
    EXPECT_EQ(read(words).code, 2) << words.front();
  }
}

}  // namespace
}  // namespace trireme::bench::gpu
