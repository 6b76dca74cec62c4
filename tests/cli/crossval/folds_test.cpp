// Goal:   cross-validation trains and evaluates every fold separately, continues existing jobs, and
//         reports mean and deviation; the error for a failed fold names the fold.
// Method: a stand-in for `trireme` that records its arguments; reference values from Python's
//         statistics module.

#include "trireme/cli/crossval/folds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cli/commands.h"

namespace trireme::cli::crossval {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class FoldsOfARecipe : public ::testing::Test {
 protected:
  // A training prints a line; an evaluation prints the next one of the accuracies below.
  int pretend(const std::vector<std::string>& words,
              const std::function<void(std::string_view)>& on_line) {
    runs_.push_back(words);
    if (words[0] == "train") {
      on_line("step 1");
      return 0;
    }
    on_line("{\"step\": 9, \"accuracy\": " + accuracies_.at(runs_.size() / 2 - 1) + "}");
    return code_;
  }
  std::vector<Metrics> run(FoldOptions options) {
    options.recipe = "r.toml";
    options.output = folder_.path();
    return run_folds(
        options, [this](const auto& words, const auto& on_line) { return pretend(words, on_line); },
        [this](std::string_view line) { said_.emplace_back(line); });
  }

  TemporaryFolder folder_{"crossval"};
  std::vector<std::vector<std::string>> runs_;
  std::vector<std::string> said_;
  std::vector<std::string> accuracies_{"0.5", "0.75", "0.7"};
  int code_ = 0;
};

TEST_F(FoldsOfARecipe, AreSeparateJobs) {
  std::filesystem::create_directories(folder_.path() / "fold-1");
  write_file_atomically(folder_.path() / "fold-1/config.toml", "");
  const auto folds = run({.folds = 3, .overrides = {"train.steps=4"}, .train_words = {"-n", "2"}});
  ASSERT_EQ(runs_.size(), 6U);
  const std::string first = (folder_.path() / "fold-0").string();
  EXPECT_THAT(runs_[0], ElementsAre("train", "r.toml", "train.steps=4", "data.folds=3",
                                    "data.fold=0", "--output", first, "-n", "2"));
  EXPECT_THAT(runs_[1], ElementsAre("eval", first, "--json"));
  EXPECT_THAT(runs_[2], Contains("--resume=auto"));
  EXPECT_THAT(runs_[4], Not(Contains("--resume=auto")));
  EXPECT_THAT(said_, ElementsAre("step 1", "step 1", "step 1"));
  const auto spreads = spread_of(folds);
  ASSERT_EQ(spreads.size(), 1U);
  // statistics.mean and statistics.stdev of 0.5, 0.75, 0.7.
  EXPECT_NEAR(spreads.at("accuracy").mean, 0.65, 1e-12);
  EXPECT_NEAR(spreads.at("accuracy").deviation, 0.13228756555322954, 1e-12);
}

TEST_F(FoldsOfARecipe, FailuresAndMissingMetricsAreReported) {
  accuracies_[1] = "\"nan\"";
  const auto spreads = spread_of(run({.folds = 2, .worker = "own"}));
  EXPECT_TRUE(std::isnan(spreads.at("accuracy").mean));
  EXPECT_THAT(runs_[0], Contains("own"));
  EXPECT_THAT(runs_[1], Contains("own"));
  code_ = 3;
  try {
    run({.folds = 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("fold-0 ended with status 3"));
  }
  EXPECT_EQ(spread_of({{{"a", 1}, {"b", 2}}, {{"a", 1}}}).size(), 1U);
  EXPECT_EQ(spread_of({{{"a", 4}}}).at("a").deviation, 0);
  EXPECT_TRUE(spread_of({}).empty());
}

TEST(CrossvalCommand, HelpShowsAnExample) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(crossval_command().run({"--help"}), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("trireme crossval recipes/"));
}

}  // namespace
}  // namespace trireme::cli::crossval
