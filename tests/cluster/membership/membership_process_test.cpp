// Goal:   real workers survive kill -9, SIGSTOP, two deaths at once and a death while they agree on
//         an epoch, and admit a new worker; quickly, and with the right causes.
// Method: processes over a store served by this test; each moves on by itself when a member is gone
//         or a change is wanted, and reports its epoch and the time, by one clock.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "tests/cluster/store_kinds.h"
#include "trireme/base/error.h"
#include "trireme/cluster/liveness/harmless.h"
#include "trireme/cluster/membership/membership.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using trireme::testing::RankChannel;
using trireme::testing::RankProcesses;

Deadline soon() {
  return Deadline::after(30s);
}

long long nanoseconds_now() {
  return steady_clock().now().time_since_epoch().count();
}

int number_of(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

// TEST_FATAL="3 membership.decided": worker 3 kills itself at that point.
class Fatal final : public Faults {
 public:
  void reached(FaultPoint point, int worker) override {
    const char* fatal = std::getenv("TEST_FATAL");
    if (fatal == nullptr) return;
    if (std::to_string(worker) + " " + std::string(point.name) == fatal) ::raise(SIGKILL);
  }
};

std::string describe(const Next& next, long long when) {
  std::string text = std::to_string(when) + " epoch " + std::to_string(next.epoch.number()) + ":";
  for (const EpochMember& entry : next.epoch.members()) {
    text += " " + std::to_string(entry.worker) + (entry.is_new ? "new" : "");
  }
  for (const Gone& gone : next.gone) {
    text += "; " + std::to_string(gone.worker) + " " + gone.cause;
    if (!is_harmless(gone.pid)) text += " but runs";
  }
  return text + "; " + std::to_string(next.reports.size()) + " reports";
}

// Workers beyond TEST_FIRST join when they are told to.
void work(RankChannel& channel) {
  const int first = number_of("TEST_FIRST", channel.count());
  const net::SecretCredentials credentials(net::Secret::from_hex(std::getenv("TEST_SECRET")),
                                           "worker");
  RemoteStore store(
      {.address = net::Address::parse(std::getenv("TEST_STORE")), .credentials = &credentials},
      soon());
  Fatal faults;
  Membership membership(
      {.worker = channel.rank(),
       .first_size = first,
       .heartbeat = {.interval = {},
                     .timeout = std::chrono::milliseconds(number_of("TEST_HEARTBEAT", 15000))},
       .store = &store,
       .faults = &faults});
  std::atomic<bool> has_lost = false;
  membership.on_gone([&](const WorkerEnd&) { has_lost = true; });
  if (channel.rank() >= first) channel.hear();
  membership.join(soon());
  channel.say("epoch " + std::to_string(membership.epoch().number()) + " rank " +
              std::to_string(membership.rank()));
  for (;;) {
    if (!has_lost && !membership.is_change_wanted()) {
      std::this_thread::sleep_for(200us);
      continue;
    }
    const bool takes_new = !has_lost.exchange(false);
    const Next next = membership.next(bytes_of("report"), {.takes_new = takes_new}, soon());
    channel.say(describe(next, nanoseconds_now()));
  }
}

class MembershipProcess : public ::testing::Test {
 protected:
  void begin(int count, std::map<std::string, std::string> variables = {}, int first = 0) {
    kind.emplace();
    variables["TEST_STORE"] = kind->server().address().to_text();
    variables["TEST_SECRET"] = kind->secret().to_hex();
    if (first > 0) variables["TEST_FIRST"] = std::to_string(first);
    ranks.emplace(RankProcesses::Options{.count = count, .environment = variables}, work);
    for (int worker = 0; worker < (first > 0 ? first : count); ++worker) {
      EXPECT_EQ(ranks->hear(worker, soon()), "epoch 1 rank " + std::to_string(worker));
    }
  }
  // The worker's next report, and after how long it came, which is recorded.
  std::string hear(int worker, long long begin) {
    const std::string line = ranks->hear(worker, soon());
    long long when = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "%lld", &when), 1) << line;
    milliseconds.push_back(static_cast<double>(when - begin) / 1e6);
    return line.substr(line.find(' ') + 1);
  }
  std::optional<StoreServer> kind;
  std::optional<RankProcesses> ranks;
  std::vector<double> milliseconds;
};

TEST_F(MembershipProcess, SurvivorsOfAKillEnterTheNextEpochAtOnce) {
  RankProcesses::run_if_child(work);
  for (int trial = 0; trial < 2; ++trial) {
    const int dead = 2 * trial;
    begin(4);
    const long long now = nanoseconds_now();
    ranks->kill(dead, SIGKILL);
    std::string expected = "epoch 2:";
    for (int worker = 0; worker < 4; ++worker) {
      if (worker != dead) expected += " " + std::to_string(worker);
    }
    expected += "; " + std::to_string(dead) + " its process died; 3 reports";
    for (int worker = 0; worker < 4; ++worker) {
      if (worker == dead) continue;
      EXPECT_EQ(hear(worker, now), expected);
    }
    ranks.reset();
  }
}

TEST_F(MembershipProcess, AFrozenWorkerIsKilledAndLeftOut) {
  RankProcesses::run_if_child(work);
  begin(4, {{"TEST_HEARTBEAT", "300"}});
  const long long now = nanoseconds_now();
  ranks->kill(2, SIGSTOP);
  for (const int worker : {0, 1, 3}) {
    const std::string line = hear(worker, now);
    EXPECT_THAT(line, HasSubstr("epoch 2: 0 1 3; 2 "));
    // The first member that noticed killed it; for the others it simply died.
    EXPECT_THAT(line,
                ::testing::AnyOf(HasSubstr("no heartbeat for "), HasSubstr("its process died")));
  }
  EXPECT_TRUE(WIFSIGNALED(ranks->wait_exit(2, soon())));
  EXPECT_GE(milliseconds.front(), 240.0) << "it must not be accused early";
}

TEST_F(MembershipProcess, SurvivorsContinueAfterTwoDeathsAtOnce) {
  RankProcesses::run_if_child(work);
  begin(5);
  const long long now = nanoseconds_now();
  ranks->kill(0, SIGKILL);
  ranks->kill(3, SIGKILL);
  for (const int worker : {1, 2, 4}) {
    std::string line = hear(worker, now);
    // One death may be noticed so much sooner that it causes a separate epoch.
    if (line.find(": 1 2 4;") == std::string::npos) line = hear(worker, now);
    EXPECT_THAT(line, HasSubstr(": 1 2 4;"));
    EXPECT_THAT(line, HasSubstr("3 reports"));
  }
}

TEST_F(MembershipProcess, SurvivorsContinueAfterADeathDuringTheDecision) {
  RankProcesses::run_if_child(work);
  for (const char* fatal : {"1 membership.next", "1 membership.decided", "1 membership.agreed"}) {
    begin(4, {{"TEST_FATAL", fatal}});
    const long long now = nanoseconds_now();
    ranks->kill(3, SIGKILL);
    for (const int worker : {0, 2}) {
      std::string line = hear(worker, now);
      if (line.find(": 0 2;") == std::string::npos) line = hear(worker, now);
      EXPECT_THAT(line, HasSubstr(": 0 2;")) << fatal;
      // Also on members that learn of the epoch before they learn of the death.
      EXPECT_THAT(line, HasSubstr("1 its process died")) << fatal;
    }
    ranks.reset();
  }
}

TEST_F(MembershipProcess, ANewWorkerIsAdmittedAndOutlivesTheOthers) {
  RankProcesses::run_if_child(work);
  begin(3, {}, 2);
  long long now = nanoseconds_now();
  ranks->say(2, "join");
  EXPECT_EQ(ranks->hear(2, soon()), "epoch 2 rank 2");
  for (const int worker : {0, 1}) {
    EXPECT_EQ(hear(worker, now), "epoch 2: 0 1 2new; 2 reports");
  }
  now = nanoseconds_now();
  ranks->kill(0, SIGKILL);
  for (const int worker : {1, 2}) {
    EXPECT_EQ(hear(worker, now), "epoch 3: 1 2; 0 its process died; 2 reports");
  }
  ranks->kill(1, SIGKILL);
  EXPECT_THAT(hear(2, now), HasSubstr("epoch 4: 2; 1 its process died; 1 reports"));
}

}  // namespace
}  // namespace trireme::cluster::membership
