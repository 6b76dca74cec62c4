// Goal:   after a divergence, a job continues from a checkpoint that leads to other weights, and a
//         new job begins if there is none.
// Method: handmade folders of jobs.

#include "trireme/cli/train/restart.h"

#include <gtest/gtest.h>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;

class RestartTest : public ::testing::Test {
 protected:
  RestartTest() {
    fs::create_directories(job());
    write_file_atomically(job() / "config.toml", "");
    for (const char* step : {"step-00000002", "step-00000003"}) {
      fs::create_directories(job() / "checkpoints" / step);
    }
  }

  fs::path job() const { return folder_.path() / "job"; }
  void write_events(const std::string& events) const {
    write_file_atomically(job() / "events.jsonl", events);
  }
  Restart restart(bool has_checkpoint = true) const {
    return restart_after_divergence({.program = "trireme",
                                     .words = {"a.toml"},
                                     .folder = "/",
                                     .output = job(),
                                     .has_checkpoint = has_checkpoint});
  }

  TemporaryFolder folder_{"restart-test"};
};

TEST_F(RestartTest, TheNewestCheckpointIsUsedIfItHelpsOrNothingElseIsKnown) {
  const std::string command =
      "cd / && trireme train a.toml --output " + job().string() + " --resume";
  EXPECT_EQ(restart().rest.command(), command);
  write_events("no JSON\n{\"event\":\"diverged\",\"continue_from\":3}\n");
  EXPECT_EQ(restart().rest.command(), command);
  EXPECT_EQ(restart().words, "continue with");
}

TEST_F(RestartTest, AnEarlierCheckpointIsUsedIfTheNewestLeadsToTheSameFailure) {
  write_events(
      "{\"event\":\"diverged\",\"continue_from\":3}\n{\"event\":\"resumed\"}\n"
      "{\"event\":\"diverged\",\"continue_from\":2}\n{\"event\":\"failed\"}\n");
  const std::string newest = (job() / "checkpoints/step-00000003").string();
  EXPECT_EQ(restart().rest.command(), "cd / && mv " + newest + " " + newest +
                                          ".unused && trireme train a.toml --output " +
                                          job().string() + " --resume");
  EXPECT_EQ(restart().words,
            "the last checkpoint leads to the same failure; continue from step 2 with");
  fs::create_directories(newest + ".unused");
  EXPECT_EQ(restart().rest.moves.at(0).to, newest + ".unused-2");
}

TEST_F(RestartTest, ANewJobBeginsIfNoCheckpointHelps) {
  write_events("{\"event\":\"diverged\",\"continue_from\":-1}\n");
  EXPECT_EQ(restart().rest.command(),
            "cd / && trireme train a.toml --output " + job().string() + "-2 --resume=auto");
  EXPECT_EQ(restart().words, "the last checkpoint leads to the same failure; begin a new job with");
  EXPECT_EQ(restart(false).words, "there is no checkpoint; begin again with");
  EXPECT_EQ(restart(false).rest.output, job());
}

}  // namespace
}  // namespace trireme::cli
