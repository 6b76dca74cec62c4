// Goal:   however a job is ended, its ranks are signalled once, its exit code is that of the first
//         reason, and the wait for the last output lasts as long as it may still be read.
// Method: an Ending that sends into a list; the writer is real and its lines go to this test's
//         standard error.

#include "trireme/cluster/launch/ending.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <optional>
#include <string>
#include <vector>

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

struct Job {
  explicit Job(Duration grace = 5s, std::optional<Duration> orphan_timeout = std::nullopt)
      : ending({.grace = grace,
                .orphan_timeout = orphan_timeout,
                .writer = &writer,
                .announce = [this](const std::string& why) { announced.push_back(why); },
                .send = [this](int signal) { sent.push_back(signal); }}) {}

  std::vector<std::string> announced;
  std::vector<int> sent;
  output::Writer writer;
  Ending ending;
};

TEST(Ending, NoSignalIsSentBeforeARequest) {
  const Job job;
  EXPECT_FALSE(job.ending.has_begun());
  EXPECT_FALSE(job.ending.is_told());
  EXPECT_TRUE(job.ending.next().is_never());
  EXPECT_EQ(job.ending.code(), std::nullopt);
}

TEST(Ending, AFailedRankEndsTheOthersAndSetsTheExitCode) {
  Job job;
  job.ending.begin("rank 1 failed");
  EXPECT_EQ(job.sent, std::vector<int>{SIGTERM});
  EXPECT_EQ(job.announced, std::vector<std::string>{"rank 1 failed"});
  EXPECT_FALSE(job.ending.is_told());
  job.ending.set_code(3);
  job.ending.set_code(4);
  EXPECT_EQ(job.ending.code(), 3);
  EXPECT_TRUE(job.ending.last_words().is_never());
}

TEST(Ending, AnInterruptIsForwardedOnceAndSetsTheExitCode) {
  Job job;
  job.ending.on_signal(SIGINT);
  job.ending.on_signal(SIGINT);  // the same key press, received twice
  EXPECT_EQ(job.sent, std::vector<int>{SIGINT});
  EXPECT_EQ(job.announced.size(), 1u);
  EXPECT_EQ(job.ending.code(), 128 + SIGINT);
  EXPECT_TRUE(job.ending.is_told());
  EXPECT_FALSE(job.ending.is_hurried());
  EXPECT_FALSE(job.ending.last_words().is_never());
}

TEST(Ending, ASecondRequestKillsAndShortensTheWaitForOutput) {
  Job job;
  job.ending.on_signal(SIGTERM);
  job.ending.on_signal(SIGINT);
  EXPECT_EQ(job.sent, (std::vector<int>{SIGTERM, SIGKILL}));
  EXPECT_TRUE(job.ending.is_hurried());
  EXPECT_EQ(job.ending.code(), 128 + SIGTERM);
  EXPECT_EQ(job.announced.size(), 1u);
  // From now on a further request shortens the wait for the last output.
  EXPECT_LE(job.ending.last_words().remaining(), Ending::kQuietTime);
  EXPECT_FALSE(job.ending.is_hurried());
}

TEST(Ending, KillsAfterTheGraceTime) {
  Job job(0s);
  job.ending.on_stop(SIGTERM);
  ASSERT_TRUE(job.ending.next().is_past());
  job.ending.on_time();
  EXPECT_EQ(job.sent, (std::vector<int>{SIGTERM, SIGKILL}));
}

TEST(Ending, AForcedStopKillsImmediately) {
  Job job;
  job.ending.on_stop(SIGKILL);
  EXPECT_EQ(job.sent, std::vector<int>{SIGKILL});
  EXPECT_TRUE(job.ending.is_hurried());
}

TEST(Ending, WithoutItsFrontItSendsNothingAndReportsAKill) {
  Job job;
  job.ending.set_code(1);
  job.ending.on_front_lost();
  EXPECT_TRUE(job.sent.empty());
  EXPECT_TRUE(job.ending.is_abandoned());
  EXPECT_TRUE(job.ending.is_told());
  EXPECT_TRUE(job.ending.has_begun());
  EXPECT_EQ(job.ending.code(), 128 + SIGKILL);
  EXPECT_LE(job.ending.last_words().remaining(), Ending::kQuietTime);
}

TEST(Ending, AnElasticJobWithoutItsFrontEndsAfterATimeout) {
  Job job(5s, 0s);
  job.ending.on_front_lost();
  EXPECT_TRUE(job.ending.is_alone());
  EXPECT_FALSE(job.ending.is_abandoned());
  EXPECT_FALSE(job.ending.has_begun());
  EXPECT_TRUE(job.sent.empty() && job.announced.empty());
  ASSERT_TRUE(job.ending.next().is_past());
  job.ending.on_time();
  EXPECT_EQ(job.sent, std::vector<int>{SIGTERM});
  EXPECT_EQ(job.announced.size(), 1u);
  EXPECT_TRUE(job.ending.is_told());
  job.ending.on_front_lost();  // reported once
  EXPECT_FALSE(job.ending.next().is_past()) << "the grace time has not passed";

  Job patient(5s, 1h);
  patient.ending.on_front_lost();
  EXPECT_FALSE(patient.ending.next().is_never());
  EXPECT_GT(patient.ending.next().remaining(), 50min);
}

TEST(Ending, AnErrorBeforeTheStartGivesExitCodeOne) {
  Job job;
  job.ending.on_error(Error(ErrorCode::Io, "no such thing"));
  EXPECT_EQ(job.ending.code(), 1);
  EXPECT_FALSE(job.ending.has_begun());
}

}  // namespace
}  // namespace trireme::cluster::launch
