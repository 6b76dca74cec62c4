// Goal:   what a job leaves to read is right after it was cut short: curves up to the last
//         checkpoint, none of them twice, and the events of every attempt.
// Method: whole jobs with their files, resumed; and a Reporter by hand.

#include "trireme/train/reporter.h"

#include <gmock/gmock.h>

#include "tests/train/trainer_fixture.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;

class ReporterTest : public TrainerTest {
 protected:
  ReporterTest() { is_reported_ = true; }

  // In the order of their names, which is that of their beginnings.
  std::vector<fs::path> curves_of(const std::string& folder) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(at(folder) / "tensorboard")) {
      files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
  }
};

// A session's start is field 7 with a message of two bytes; the step is the field before it.
TEST_F(ReporterTest, ResumedCurvesGoOnAfterTheLastStep) {
  run("job", {"train.steps=5"});
  run("job", {"train.steps=7"}, true);
  const auto files = curves_of("job");
  ASSERT_EQ(files.size(), 2U);
  const std::string later = read_file(files[1]);
  const std::size_t start = later.find("\x3a\x02\x08\x01");
  ASSERT_NE(start, std::string::npos);
  EXPECT_EQ(later[start - 2], '\x10');
  EXPECT_EQ(later[start - 1], '\x06') << "what was said of step 5 stays";
}

TEST_F(ReporterTest, EventsOfEveryAttemptStay) {
  run("job", {"train.steps=5"});
  const std::string before = said("job", "events.jsonl");
  run("job", {"train.steps=7"}, true);
  const std::string after = said("job", "events.jsonl");
  EXPECT_TRUE(after.starts_with(before)) << after;
  EXPECT_THAT(after.substr(before.size()), HasSubstr("\"event\":\"resumed\""));
  // As after a step past the checkpoint that a job goes on from.
  {
    Reporter reporter(reporting("job"));
    reporter.event({{"event", "failed"}, {"step", 99}});
  }
  run("job", {"train.steps=9"}, true);
  EXPECT_THAT(said("job", "events.jsonl"), HasSubstr("{\"step\":99,"));
}

TEST_F(ReporterTest, CurvesAreThereWhenACheckpointIs) {
  const Kinds kinds = tiny_kinds();
  Job job = open_job(tiny_config("mlp", {}, kinds), kinds);
  Reporter reporter(reporting("job"));
  Progress progress;
  reporter.begin(job, progress);
  const fs::path file = curves_of("job").front();
  const auto written = fs::file_size(file);
  progress.step = 1;
  reporter.step(progress, Outcome{.loss = 1});
  EXPECT_EQ(fs::file_size(file), written) << "a few kilobytes are gathered";
  reporter.saved(1, {});
  const auto saved = fs::file_size(file);
  EXPECT_GT(saved, written);
  EXPECT_THAT(said("job", "events.jsonl"), HasSubstr("{\"step\":1,"));
  Scores scores(3);
  scores.add_loss(1, 1);
  reporter.evaluated(progress, scores);
  EXPECT_GT(fs::file_size(file), saved);
}

}  // namespace
}  // namespace trireme::train
