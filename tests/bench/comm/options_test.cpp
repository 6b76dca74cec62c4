// Goal:   sizes are parsed in the forms that people write, invalid values are rejected with the
//         valid names, and a worker understands the arguments that the program passes to it.
// Method: the parser at its limits; real Commands filled from arguments and converted back.

#include "bench/comm/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

struct Reading {
  int code = 0;
  Options options;
  std::string error;
};

Reading read(const Words& words) {
  cli::Command command("x", "", "");
  const auto options = std::make_shared<Options>();
  add_case_options(command, options);
  add_program_options(command, options);
  add_worker_options(command, options);
  command.action([options] { return options->check(), 0; });
  ::testing::internal::CaptureStderr();
  const int code = command.run(words);
  return {code, *options, ::testing::internal::GetCapturedStderr()};
}

TEST(Options, SizesAreParsedWithTheirUnits) {
  EXPECT_THAT(parse_sizes("64,4K,64K,1M,16M,64M"),
              ElementsAre(64, 4096, 65536, 1 << 20, 16 << 20, 64 << 20));
  EXPECT_THAT(parse_sizes("0"), ElementsAre(0));
  EXPECT_THAT(parse_sizes("1 MiB,1MB"), ElementsAre(1 << 20, 1000000));
  EXPECT_THAT(parse_sizes("8G"), ElementsAre(std::size_t{8} << 30));
  for (const char* text : {"", ",", "1,", ",1", "four", "-1", "1,,2", "9G", "1.5", "0x10"}) {
    EXPECT_THROW(parse_sizes(text), Error) << text;
  }
}

TEST(Options, DefaultsMatchTheHelp) {
  const Options defaults = read({}).options;
  EXPECT_EQ(defaults.ranks, 2);
  EXPECT_EQ(defaults.backend, "shm");
  EXPECT_EQ(defaults.op, "all_reduce");
  EXPECT_EQ(defaults.sizes, parse_sizes("64,4K,64K,1M,16M,64M"));
  EXPECT_EQ(defaults.seconds, 3);
}

TEST(Options, InvalidValuesAreReportedWithTheValidOnes) {
  const Reading reading =
      read({"--ranks", "0", "--backend", "smh", "--op", "allreduce", "--sizes", "many", "--type",
            "float", "--algorithm", "rign", "--streams", "x", "--seconds", "-1"});
  EXPECT_EQ(reading.code, 2);
  for (const char* text : {"--ranks 0", "--backend smh", "did you mean shm?", "--op allreduce",
                           "did you mean all_reduce?", "--sizes many", "--type float", "bfloat16",
                           "rign", "halving_doubling", "--streams x", "--seconds -1"}) {
    EXPECT_THAT(reading.error, HasSubstr(text));
  }
}

TEST(Options, InconsistentOptionsAreRefused) {
  EXPECT_EQ(read({"--symmetric", "--backend", "tcp"}).code, 2);
  EXPECT_EQ(read({"--symmetric", "--backend", "thread"}).code, 0);
  EXPECT_EQ(read({"--peers", "--op", "broadcast"}).code, 2);
  EXPECT_EQ(read({"--peers", "--type", "int8"}).code, 2);
  EXPECT_EQ(read({"--peers"}).code, 0);
  EXPECT_EQ(read({"--algorithm", "ring"}).code, 2);
  EXPECT_EQ(read({"--algorithm", "ring", "--backend", "tcp"}).code, 0);
}

TEST(Options, TheWorkersArgumentsDescribeTheWholeCase) {
  const Options asked =
      read({"--ranks",     "3",      "--backend", "tcp",         "--op",   "all_gather", "--sizes",
            "7,64M",       "--type", "int8",      "--algorithm", "tree",   "--streams",  "2",
            "--interface", "eth7",   "--seconds", "0.25",        "--wire", "1e9"})
          .options;
  const Options told = read(worker_words(asked)).options;
  EXPECT_EQ(told.ranks, 3);
  EXPECT_EQ(told.backend, "tcp");
  EXPECT_EQ(told.op, "all_gather");
  EXPECT_THAT(told.sizes, ElementsAre(7, 64 << 20));
  EXPECT_EQ(told.type, "int8");
  EXPECT_EQ(told.algorithm, "tree");
  EXPECT_EQ(told.streams, 2);
  EXPECT_EQ(told.interface, "eth7");
  EXPECT_EQ(told.seconds, 0.25);
  EXPECT_EQ(told.wire, 1e9);
  EXPECT_FALSE(told.is_symmetric);
  EXPECT_TRUE(read(worker_words(read({"--symmetric"}).options)).options.is_symmetric);
}

}  // namespace
}  // namespace trireme::bench
