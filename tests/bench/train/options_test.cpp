// Goal:   a rank understands the arguments that the program passes to it, unset values get
//         defaults, and values that cannot be combined are rejected.
// Method: real Commands filled from arguments and converted back.

#include "bench/train/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/folders.h"
#include "trireme/base/error.h"

namespace trireme::bench::train {
namespace {

using Words = std::vector<std::string>;

struct Reading {
  int code = 0;
  TrainOptions options;
};

Reading read(const Words& words) {
  cli::Command command("x", "", "");
  const auto options = std::make_shared<TrainOptions>();
  add_case_options(command, options);
  add_program_options(command, options);
  add_rank_options(command, options);
  command.action([] { return 0; });
  ::testing::internal::CaptureStderr();
  const int code = command.run(words);
  ::testing::internal::GetCapturedStderr();
  return {code, *options};
}

TEST(TrainOptions, ARankParsesTheProgramsArguments) {
  TrainOptions options;
  options.model = "gpt-wide";
  options.ranks = 3;
  options.threads = 2;
  options.seconds = 0.25;
  options.precision = "bf16";
  options.sync = "zero2";
  options.is_apart = true;
  options.is_elastic = true;
  options.codec = "int8";
  options.wire = 1e9;
  options.every = 7;
  const Reading reading = read(case_words(options));
  ASSERT_EQ(reading.code, 0);
  EXPECT_EQ(reading.options.model, "gpt-wide");
  EXPECT_EQ(reading.options.ranks, 3);
  EXPECT_EQ(reading.options.threads, 2);
  EXPECT_EQ(reading.options.seconds, 0.25);
  EXPECT_EQ(reading.options.precision, "bf16");
  EXPECT_EQ(reading.options.sync, "zero2");
  EXPECT_TRUE(reading.options.is_apart);
  EXPECT_TRUE(reading.options.is_elastic);
  EXPECT_EQ(reading.options.codec, "int8");
  EXPECT_EQ(reading.options.wire, 1e9);
  EXPECT_EQ(reading.options.every, 7);
}

TEST(TrainOptions, InvalidValuesAreRefused) {
  for (const Words& words : {Words{"--model", "gpt"},
                             {"--ranks", "0"},
                             {"--threads", "0"},
                             {"--precision", "float64"},
                             {"--seconds", "-1"},
                             {"--codec", "int7"},
                             {"--wire", "0"},
                             {"--rounds", "0"}}) {
    EXPECT_EQ(read(words).code, 2) << words.front();
  }
}

TEST(TrainOptions, StrategiesAreThoseOfTheWorker) {
  if (!std::filesystem::exists(build_folder() + "/trireme-worker")) {
    GTEST_SKIP() << "SKIPPED: this build has no torch";
  }
  EXPECT_EQ(read({"--sync", "hierarchical"}).code, 0);
  EXPECT_EQ(read({"--sync", "zero4"}).code, 2);
}

TEST(TrainOptions, UnsetValuesGetDefaults) {
  const TrainOptions one = TrainOptions{}.whole();
  EXPECT_EQ(one.model, "cnn");
  EXPECT_EQ(one.ranks, 1);
  EXPECT_GE(one.threads, 1);
  TrainOptions many;
  many.ranks = 1000;
  EXPECT_EQ(many.whole().threads, 1);
  many.threads = 5;
  EXPECT_EQ(many.whole().threads, 5);
}

TEST(TrainOptions, InconsistentOptionsAreRefused) {
  EXPECT_NO_THROW(TrainOptions{}.check());
  TrainOptions alone;
  alone.ranks = 1;
  alone.sync = "zero1";
  EXPECT_THROW(alone.check(), Error);
  TrainOptions apart;
  apart.ranks = 2;
  apart.is_apart = true;
  EXPECT_NO_THROW(apart.check());
  apart.sync = "shared";
  EXPECT_THROW(apart.check(), Error);
  TrainOptions coded;
  coded.ranks = 2;
  coded.codec = "int8";
  coded.wire = 1e9;
  EXPECT_NO_THROW(coded.check());
  coded.sync = "zero1";
  EXPECT_THROW(coded.check(), Error);
  coded.sync = "auto";
  coded.ranks = 3;
  EXPECT_THROW(coded.check(), Error);
  TrainOptions rounds;
  rounds.ranks = 2;
  rounds.every = 100;
  EXPECT_THROW(rounds.check(), Error) << "a strategy that synchronizes in every step has no rounds";
  rounds.sync = "diloco";
  rounds.codec = "int8";
  EXPECT_NO_THROW(rounds.check());
  rounds.every = 0;
  EXPECT_EQ(rounds.whole().every, 16);
  TrainOptions elastic;
  elastic.is_elastic = true;
  elastic.ranks = 2;
  EXPECT_NO_THROW(elastic.check());
  elastic.wire = 1e9;
  EXPECT_THROW(elastic.check(), Error) << "with one rank per host there is nothing to shard";
  elastic.ranks = 4;
  EXPECT_NO_THROW(elastic.check());
  elastic.has_peers = true;
  EXPECT_THROW(elastic.check(), Error);
  TrainOptions bars;
  bars.has_bars = true;
  EXPECT_NO_THROW(bars.check());
  bars.precision = "bf16";
  EXPECT_THROW(bars.check(), Error);
}

}  // namespace
}  // namespace trireme::bench::train
