// Goal:   a worker that trains alone and freezes is killed; a live one is not, and neither are
//         members that watch each other. On another host it is reported once per timeout, and time
//         in which the watching process was stopped does not count.
// Method: child processes with their own heartbeats; one is stopped with SIGSTOP. For another host,
//         values of a heartbeat key at given times.

#include "trireme/cluster/launch/lone_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "trireme/base/bytes.h"
#include "trireme/cluster/roster.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kTimeout = 2s;

// A worker that sends heartbeats until it is told to end.
void beat(testing::RankChannel& channel) {
  const Life life({.watchers = membership::kLauncherPlace + 1,
                   .heartbeat = {.interval = kTimeout / 5, .timeout = kTimeout}});
  Member self;
  self.rank = channel.rank();
  self.size = 2;
  self.pid = ::getpid();
  self.life = life.proof();
  channel.say(to_hex(encode(self)));
  channel.hear();
}

membership::Seat seat_of(testing::RankProcesses& workers, int rank) {
  membership::Seat seat{.worker = rank, .place = rank};
  const std::string said = workers.hear(rank, Deadline::after(20s));
  seat.about = decode_member(from_hex(said));
  return seat;
}

TEST(LoneWatch, KillsAFrozenWorkerThatTrainsAlone) {
  testing::RankProcesses::run_if_child(beat);
  testing::RankProcesses workers({.count = 2}, beat);
  const membership::Seat first = seat_of(workers, 0), second = seat_of(workers, 1);
  LoneWatch watch(kTimeout);
  watch.look_at(membership::Epoch(1, {first, second}));
  workers.kill(1, SIGSTOP);
  // The first member would have to notice it; then the first member is alone, and alive.
  watch.look_at(membership::Epoch(2, {first}));
  std::this_thread::sleep_for(kTimeout + 500ms);
  EXPECT_EQ(::kill(workers.pid(0), 0), 0);
  EXPECT_EQ(::waitpid(workers.pid(1), nullptr, WNOHANG), 0) << "the frozen worker was not alone";
  workers.kill(0, SIGSTOP);
  const int status = workers.wait_exit(0, Deadline::after(20s));
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  workers.kill(1, SIGKILL);
}

// No process on this host has the life page that this member announced.
membership::Seat far_seat(int worker) {
  membership::Seat seat{.worker = worker, .place = 0};
  seat.about.size = 1;
  return seat;
}

TEST(LoneWatch, WithoutATimeoutNoWorkerIsWatched) {
  LoneWatch watch(Duration::zero());
  watch.look_at(membership::Epoch(1, {far_seat(0)}));
  EXPECT_EQ(watch.far(), std::nullopt);
}

class FarLoneWatch : public ::testing::Test {
 protected:
  FarLoneWatch() { watch_.look_at(membership::Epoch(1, {far_seat(3)})); }

  bool note(std::optional<int> beat) {
    const std::optional<Bytes> value =
        beat ? std::optional(Bytes{static_cast<std::byte>(*beat)}) : std::nullopt;
    return watch_.note_heartbeat(3, value, now_);
  }

  LoneWatch watch_{kTimeout};
  TimePoint now_ = steady_clock().now();
};

TEST_F(FarLoneWatch, ReportsAWorkerWithoutHeartbeatsOncePerTimeout) {
  ASSERT_EQ(watch_.far(), 3);
  for (int beat = 0; beat < 20; ++beat, now_ += watch_.interval()) EXPECT_FALSE(note(beat));
  int reports = 0;
  for (int look = 0; look < 20; ++look, now_ += watch_.interval()) reports += note(19);
  EXPECT_GE(reports, 2);
  EXPECT_LE(reports, 20 / 5);
}

TEST_F(FarLoneWatch, CountsFromTheFirstHeartbeat) {
  for (int look = 0; look < 20; ++look, now_ += watch_.interval()) EXPECT_FALSE(note({}));
}

TEST_F(FarLoneWatch, DoesNotCountTimeInWhichTheWatcherWasStopped) {
  EXPECT_FALSE(note(1));
  now_ += 10 * kTimeout;
  EXPECT_FALSE(note(1));
  for (int look = 0; look < 5; ++look, now_ += watch_.interval()) EXPECT_FALSE(note(1));
}

TEST_F(FarLoneWatch, WatchesOnlyTheWorkerThatIsAloneNow) {
  watch_.look_at(membership::Epoch(2, {far_seat(3), far_seat(4)}));
  EXPECT_EQ(watch_.far(), std::nullopt);
  watch_.look_at(membership::Epoch(3, {far_seat(4)}));
  EXPECT_EQ(watch_.far(), 4);
  for (int look = 0; look < 20; ++look, now_ += watch_.interval()) EXPECT_FALSE(note(1));
}

}  // namespace
}  // namespace trireme::cluster::launch
