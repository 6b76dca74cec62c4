// Goal:   what a job leaves to read is right after it was cut short: curves up to the last
//         checkpoint, none of them twice, and the events of every attempt.
// Method: whole jobs with their files, resumed; and a Reporter by hand.

#include "trireme/train/report/reporter.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/train/trainer_fixture.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// The peak is that of all ranks there are, and a step whose first attempt is partly kept has no
// speed. Outcomes are made up: 90 % of what so many ranks can do.
TEST_F(ReporterTest, MfuFollowsTheRanksAndLeavesRepeatedStepsOut) {
  const Kinds kinds = tiny_kinds();
  Job job = open_job(tiny_config("mlp", {}, kinds), kinds);
  constexpr double kPeak = 1e12;
  Reporter::Options options = reporting("job");
  int measurements = 0;
  // The first one, while the job's processes start, is far too low.
  options.measure_peak = [&](Precision) { return ++measurements == 1 ? kPeak / 17 : kPeak; };
  Reporter reporter(options);
  Progress progress;
  reporter.begin(job, progress);
  const auto step = [&](int ranks, bool is_repeated) {
    ++progress.step;
    Outcome outcome{.loss = 1, .is_repeated = is_repeated, .times = {.forward = 1}};
    outcome.samples = std::llround(0.9 * kPeak * ranks / job.flops_a_sample);
    reporter.step(progress, outcome);
    const std::string metrics = said("job", "metrics.jsonl");
    const std::size_t at = metrics.rfind("\"mfu\":");
    return at == std::string::npos ? 0 : std::stod(metrics.substr(at + 6));
  };
  EXPECT_EQ(step(1, false), 0) << "no figure from a peak that no other measurement confirms";
  EXPECT_NEAR(step(1, false), 0.9, 0.01);
  reporter.set_ranks(3);
  EXPECT_NEAR(step(3, false), 0.9, 0.01) << "two have joined";
  EXPECT_NEAR(step(30, true), 0.9, 0.01) << "most of it was done in the first attempt";
  EXPECT_EQ(reporter.peak_flops(), kPeak);
}

// As after the death of the worker that reported before.
TEST_F(ReporterTest, ASuccessorShowsNoSpeedBeforeItHasMeasuredOne) {
  const Kinds kinds = tiny_kinds();
  Job job = open_job(tiny_config("mlp", {}, kinds), kinds);
  Reporter::Options options = reporting("job");
  options.is_silent = true;
  Reporter reporter(options);
  Progress progress{.step = 7};
  reporter.take_over(job, progress);
  ++progress.step;
  reporter.step(progress, Outcome{.loss = 1, .samples = 10, .is_repeated = true});
  EXPECT_THAT(said("job", "screen"), HasSubstr("step 8/20  loss 1.0000"));
  EXPECT_THAT(said("job", "screen"), Not(HasSubstr("samples/s")));
  EXPECT_THAT(said("job", "screen"), Not(HasSubstr("left")));
  ++progress.step;
  reporter.step(progress, Outcome{.loss = 1, .samples = 10, .times = {.forward = 1}});
  EXPECT_THAT(said("job", "screen"), HasSubstr("10 samples/s"));
  EXPECT_THAT(said("job", "screen"), HasSubstr(" left"));
}

// As where a model counts more operations than it has: twice what the machine can do.
TEST_F(ReporterTest, AnMfuAboveOneIsNotShownAndExplainedOnce) {
  const Kinds kinds = tiny_kinds();
  Job job = open_job(tiny_config("mlp", {}, kinds), kinds);
  Reporter::Options options = reporting("job");
  options.measure_peak = [](Precision) { return 1e16; };
  Reporter reporter(options);
  Progress progress;
  reporter.begin(job, progress);
  for (int step = 0; step < 5; ++step) {
    ++progress.step;
    Outcome outcome{.loss = 1, .times = {.forward = 1}};
    outcome.samples = std::llround(2e16 / job.flops_a_sample);
    reporter.step(progress, outcome);
  }
  EXPECT_THAT(said("job", "metrics.jsonl"), Not(HasSubstr("\"mfu\"")));
  const std::string screen = said("job", "screen");
  const std::string note = "2e+16 FLOP/s per rank, more than the measured peak of 1e+16";
  EXPECT_THAT(screen, HasSubstr(note));
  EXPECT_EQ(screen.find(note), screen.rfind(note));
}

TEST_F(ReporterTest, StepsWithoutASampleAreTold) {
  const Kinds kinds = tiny_kinds();
  Job job = open_job(tiny_config("mlp", {}, kinds), kinds);
  Reporter reporter(reporting("job"));
  Progress progress;
  reporter.begin(job, progress);
  progress.step = 1;
  reporter.step(progress, Outcome{.loss = 0.5, .samples = 10});
  progress.step = 2;
  reporter.step(progress, Outcome{.loss = 0, .skipped = 10, .is_empty = true});
  EXPECT_THAT(said("job", "screen"),
              HasSubstr("step 2: none of its 10 samples could be read; no update was made"));
  EXPECT_THAT(said("job", "metrics.jsonl"), HasSubstr("{\"step\":2,\"loss\":0.5"));
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
