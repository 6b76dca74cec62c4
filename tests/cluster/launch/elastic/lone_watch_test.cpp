// Goal:   a worker that trains alone and freezes is reported once per timeout; a live one is not,
//         and neither are members that watch each other; time in which the watching process was
//         stopped does not count.
// Method: values of a heartbeat key at given times.

#include "trireme/cluster/launch/elastic/lone_watch.h"

#include <gtest/gtest.h>

#include "trireme/cluster/membership/records.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kTimeout = 2s;

TEST(LoneWatch, WithoutATimeoutNoWorkerIsWatched) {
  LoneWatch watch(Duration::zero());
  watch.set_members({0});
  EXPECT_EQ(watch.worker(), std::nullopt);
}

class LoneWorker : public ::testing::Test {
 protected:
  LoneWorker() { watch_.set_members({3}); }

  // Looks this many times, without a new heartbeat, and returns the number of reports.
  int look(int times, std::optional<int> beat) {
    int reports = 0;
    for (int i = 0; i < times; ++i, now_ += watch_.interval()) reports += note(beat);
    return reports;
  }
  bool note(std::optional<int> beat) {
    const std::optional<Bytes> value =
        beat ? std::optional(Bytes{static_cast<std::byte>(*beat)}) : std::nullopt;
    return watch_.note_heartbeat(3, value, now_);
  }

  LoneWatch watch_{kTimeout};
  TimePoint now_ = steady_clock().now();
};

TEST_F(LoneWorker, IsReportedOncePerTimeoutWhenItsHeartbeatsEnd) {
  ASSERT_EQ(watch_.worker(), 3);
  for (int beat = 0; beat < 20; ++beat) EXPECT_EQ(look(1, beat), 0);
  EXPECT_EQ(look(18, 19), 3) << "the timeout is five looks, and is exceeded at the sixth";
}

TEST_F(LoneWorker, HasMoreTimeUntilItsFirstHeartbeat) {
  EXPECT_EQ(look(5 * LoneWatch::kFirst, {}), 0);
  EXPECT_EQ(look(2, {}), 1);
}

TEST_F(LoneWorker, IsNotWatchedWhileTheJobIsPaused) {
  EXPECT_EQ(look(1, 1), 0);
  EXPECT_EQ(look(1, 2), 0);
  watch_.set_paused(true);
  EXPECT_EQ(watch_.worker(), std::nullopt);
  EXPECT_EQ(look(100, 2), 0);
  watch_.set_paused(false);
  EXPECT_EQ(watch_.worker(), 3);
  EXPECT_EQ(look(6, 2), 0) << "the pause does not count";
  EXPECT_EQ(look(1, 2), 1);
}

TEST_F(LoneWorker, HasLongToEndAfterItAnnouncedThat) {
  EXPECT_EQ(look(1, 1), 0);
  EXPECT_EQ(look(1, 2), 0);
  const Bytes end = to_bytes(membership::kWellEnd);
  int reports = 0;
  for (int i = 0; i < 5 * LoneWatch::kEnd; ++i, now_ += watch_.interval()) {
    reports += watch_.note_heartbeat(3, end, now_) ? 1 : 0;
  }
  EXPECT_EQ(reports, 0);
  for (int i = 0; i < 3; ++i, now_ += watch_.interval()) {
    reports += watch_.note_heartbeat(3, end, now_) ? 1 : 0;
  }
  EXPECT_EQ(reports, 1) << "it does not end";
}

TEST_F(LoneWorker, AHeartbeatOfAnEarlierEpochDoesNotShortenItsTime) {
  EXPECT_EQ(look(5 * LoneWatch::kFirst, 7), 0) << "7 was there before it was alone";
  EXPECT_EQ(look(2, 7), 1);
}

TEST_F(LoneWorker, ThatIsAMemberAgainKeepsItsTime) {
  EXPECT_EQ(look(1, 0), 0);
  EXPECT_EQ(look(4, 1), 0);
  watch_.set_members({3});
  EXPECT_EQ(look(3, 1), 1);
  watch_.set_members({});
  EXPECT_EQ(watch_.worker(), std::nullopt) << "while the job restarts";
}

TEST_F(LoneWorker, IsNotReportedForTimeInWhichTheWatcherWasStopped) {
  EXPECT_EQ(look(1, 0), 0);
  EXPECT_EQ(look(1, 0), 0);
  EXPECT_EQ(look(1, 1), 0);
  now_ += 10 * kTimeout;
  EXPECT_EQ(look(5, 1), 0);
  EXPECT_EQ(look(2, 1), 1);
}

TEST_F(LoneWorker, IsTheOnlyMemberOfTheCurrentEpoch) {
  watch_.set_members({3, 4});
  EXPECT_EQ(watch_.worker(), std::nullopt);
  watch_.set_members({4});
  EXPECT_EQ(watch_.worker(), 4);
  EXPECT_EQ(look(20, 1), 0) << "of worker 3";
}

}  // namespace
}  // namespace trireme::cluster::launch
