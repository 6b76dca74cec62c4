// Goal:   a worker that trains alone and freezes is killed; a live one is not, and neither are
//         members that watch each other.
// Method: child processes with their own heartbeats; one is stopped with SIGSTOP.

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

TEST(LoneWatch, WithoutATimeoutNoWorkerIsWatched) {
  LoneWatch watch(Duration::zero());
  membership::Seat seat{.worker = 0, .place = 0};
  seat.about.size = 1;
  watch.look_at(membership::Epoch(1, {seat}));
}

}  // namespace
}  // namespace trireme::cluster::launch
