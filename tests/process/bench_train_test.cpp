// Goal:   `trireme bench train` runs every workload and every synchronization strategy with correct
//         results, writes the documented JSON, and leaves nothing behind.
// Method: the real program, a step or two each.

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include "tests/folders.h"
#include "tests/process/job_fixture.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme {
namespace {

class BenchTrainTest : public JobTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(build_folder() + "/trireme-bench-train")) {
      GTEST_SKIP() << "SKIPPED: this build has no torch or no benchmarks";
    }
  }

  std::vector<nlohmann::json> measure(const Words& options) {
    const std::string file = (folder_.path() / "results.json").string();
    Words words{program(), "bench", "train", "--seconds", "0.01", "--json", file};
    words.insert(words.end(), options.begin(), options.end());
    Command run({.command = words});
    EXPECT_EQ(run.wait_exit(Deadline::after(110s)), 0) << run.out() << run.error();
    std::vector<nlohmann::json> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  TemporaryFolder folder_{"bench-train-test"};
};

TEST_F(BenchTrainTest, WritesTheDocumentedFields) {
  const auto lines = measure({"--model", "gpt-nano", "--ranks", "1", "--threads", "1"});
  ASSERT_EQ(lines.size(), 1u);
  const auto& line = lines[0];
  EXPECT_EQ(line["model"], "gpt-nano");
  EXPECT_EQ(line["ranks"], 1);
  EXPECT_EQ(line["precision"], "float32");
  EXPECT_EQ(line["sync"], "none");
  EXPECT_EQ(line["unit"], "tokens");
  EXPECT_EQ(line["verified"], true);
  for (const char* key : {"units_per_second", "seconds_per_step", "peak_bytes", "pss_bytes"}) {
    EXPECT_GT(line[key], 0) << key;
  }
  double parts = 0;
  for (const char* part : {"data", "forward", "backward", "wait", "update"}) {
    parts += line["parts"][part].get<double>();
  }
  EXPECT_NEAR(parts, line["seconds_per_step"].get<double>(), 0.03 * parts);
}

TEST_F(BenchTrainTest, OneRankTrainsTheOtherModels) {
  for (const char* model : {"cnn", "mlp", "gpt-mini"}) {
    const auto lines = measure({"--model", model, "--ranks", "1", "--threads", "1"});
    ASSERT_EQ(lines.size(), 1u) << model;
    EXPECT_EQ(lines[0]["verified"], true) << model;
  }
}

TEST_F(BenchTrainTest, TwoRanksRunEverySynchronizationStrategy) {
  for (const char* sync : {"auto", "all_reduce", "zero1", "zero2", "zero3"}) {
    const auto lines =
        measure({"--model", "cnn", "--ranks", "2", "--threads", "1", "--sync", sync});
    ASSERT_EQ(lines.size(), 1u) << sync;
    EXPECT_EQ(lines[0]["verified"], true) << sync;
    EXPECT_EQ(lines[0]["sync"], sync == std::string("auto") ? "shared" : sync);
  }
}

TEST_F(BenchTrainTest, RanksMayBeOnDifferentHosts) {
  const auto lines = measure({"--model", "cnn", "--ranks", "2", "--threads", "1", "--apart"});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["verified"], true);
  EXPECT_EQ(lines[0]["sync"], "all_reduce");
}

TEST_F(BenchTrainTest, ElasticAndFixedRunsAlternate) {
  const auto lines = measure({"--model", "gpt-nano", "--ranks", "2", "--threads", "1", "--sync",
                              "zero1", "--elastic", "--rounds", "1"});
  ASSERT_EQ(lines.size(), 2u);
  for (const auto& line : lines) EXPECT_EQ(line["verified"], true);
  EXPECT_EQ(lines[0]["elastic"], true);
  EXPECT_EQ(lines[1]["elastic"], false);
}

TEST_F(BenchTrainTest, PyTorchRunsAlternateAndAreCompared) {
  if (!std::filesystem::exists(build_folder() + "/bench/peers/torch_train")) {
    GTEST_SKIP() << "SKIPPED: there is no Python with torch";
  }
  const auto lines = measure({"--model", "gpt-nano", "--threads", "1", "--peers", "--rounds", "1"});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["by"], "trireme");
  EXPECT_EQ(lines[1]["by"], "pytorch");
  EXPECT_EQ(lines[1]["verified"], true);
}

}  // namespace
}  // namespace trireme
