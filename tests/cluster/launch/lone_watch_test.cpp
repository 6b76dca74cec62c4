// Goal:   a worker that trains alone and freezes is reported once per timeout; a live one is not,
//         and neither are members that watch each other; time in which the watching process was
//         stopped does not count.
// Method: values of a heartbeat key at given times.

#include "trireme/cluster/launch/lone_watch.h"

#include <gtest/gtest.h>

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kTimeout = 2s;

membership::Seat seat_of(int worker) {
  membership::Seat seat{.worker = worker, .place = worker};
  seat.about.rank = worker;
  seat.about.size = worker + 1;
  return seat;
}

TEST(LoneWatch, WithoutATimeoutNoWorkerIsWatched) {
  LoneWatch watch(Duration::zero());
  watch.look_at(membership::Epoch(1, {seat_of(0)}));
  EXPECT_EQ(watch.worker(), std::nullopt);
}

class LoneWorker : public ::testing::Test {
 protected:
  LoneWorker() { watch_.look_at(membership::Epoch(1, {seat_of(3)})); }

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

TEST_F(LoneWorker, IsNotReportedBeforeItsFirstHeartbeat) {
  EXPECT_EQ(look(20, {}), 0);
}

TEST_F(LoneWorker, IsNotReportedForTimeInWhichTheWatcherWasStopped) {
  EXPECT_EQ(look(1, 1), 0);
  now_ += 10 * kTimeout;
  EXPECT_EQ(look(5, 1), 0);
  EXPECT_EQ(look(2, 1), 1);
}

TEST_F(LoneWorker, IsTheOnlyMemberOfTheCurrentEpoch) {
  watch_.look_at(membership::Epoch(2, {seat_of(3), seat_of(4)}));
  EXPECT_EQ(watch_.worker(), std::nullopt);
  watch_.look_at(membership::Epoch(3, {seat_of(4)}));
  EXPECT_EQ(watch_.worker(), 4);
  EXPECT_EQ(look(20, 1), 0) << "of worker 3";
}

}  // namespace
}  // namespace trireme::cluster::launch
