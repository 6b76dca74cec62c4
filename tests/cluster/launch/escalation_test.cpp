// Goal:   the ranks of a job that has to end get the right signals at the right times, and a second
//         Ctrl-C takes effect immediately.
// Method: the state machine; the test passes the time.

#include "trireme/cluster/launch/escalation.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

const TimePoint kStart{1000s};

TEST(Escalation, NoSignalIsSentBeforeARequest) {
  Escalation escalation(5s);
  EXPECT_FALSE(escalation.is_ending());
  EXPECT_TRUE(escalation.next().is_never());
  EXPECT_EQ(escalation.tick(kStart), std::nullopt);
}

TEST(Escalation, InterruptThenTermThenKill) {
  Escalation escalation(5s);
  EXPECT_EQ(escalation.ask(SIGINT, kStart), SIGINT);
  EXPECT_EQ(escalation.next().when(), kStart + 5s);
  EXPECT_EQ(escalation.tick(kStart + 4999ms), std::nullopt);
  EXPECT_EQ(escalation.tick(kStart + 5s), SIGTERM);
  EXPECT_EQ(escalation.next().when(), kStart + 6s);
  EXPECT_EQ(escalation.tick(kStart + 6s), SIGKILL);
  EXPECT_TRUE(escalation.is_killing());
  EXPECT_TRUE(escalation.next().is_never());
  EXPECT_EQ(escalation.tick(kStart + 100s), std::nullopt);
}

TEST(Escalation, OtherSignalsThenKill) {
  for (int signal : {SIGTERM, SIGHUP, SIGQUIT}) {
    Escalation escalation(2s);
    EXPECT_EQ(escalation.ask(signal, kStart), signal);
    EXPECT_EQ(escalation.sent(), signal);
    EXPECT_EQ(escalation.tick(kStart + 2s), SIGKILL);
  }
}

TEST(Escalation, ASecondInterruptKillsAtOnce) {
  for (int first : {SIGINT, SIGTERM, SIGHUP}) {
    Escalation escalation(5s);
    escalation.ask(first, kStart);
    EXPECT_EQ(escalation.ask(SIGINT, kStart + Escalation::kEchoTime), SIGKILL);
    EXPECT_EQ(escalation.ask(SIGINT, kStart + 1s), std::nullopt);
  }
}

TEST(Escalation, ARepeatedSignalWithinTheEchoTimeIsIgnored) {
  Escalation escalation(5s);
  EXPECT_EQ(escalation.ask(SIGINT, kStart), SIGINT);
  EXPECT_TRUE(escalation.is_echo(SIGINT, kStart + 199ms));
  EXPECT_EQ(escalation.ask(SIGINT, kStart + 199ms), std::nullopt);
  EXPECT_FALSE(escalation.is_echo(SIGINT, kStart + 200ms));
  EXPECT_FALSE(escalation.is_echo(SIGTERM, kStart + 1ms)) << "another signal";
  EXPECT_EQ(escalation.ask(SIGINT, kStart + 200ms), SIGKILL);
  Escalation other(5s);
  EXPECT_EQ(other.ask(SIGTERM, kStart), SIGTERM);
  EXPECT_EQ(other.ask(SIGINT, kStart + 1ms), SIGKILL) << "Ctrl-C while the job is ending";
}

TEST(Escalation, TermAfterInterruptIsSentOnce) {
  Escalation escalation(5s);
  escalation.ask(SIGINT, kStart);
  EXPECT_EQ(escalation.ask(SIGTERM, kStart + 1s), SIGTERM);
  EXPECT_EQ(escalation.ask(SIGTERM, kStart + 1s), std::nullopt);
  EXPECT_EQ(escalation.ask(SIGHUP, kStart + 1s), std::nullopt);
  EXPECT_EQ(escalation.next().when(), kStart + 2s);
}

TEST(Escalation, AcceptsAGraceTimeOfZeroAndOfForever) {
  Escalation none(0s);
  EXPECT_EQ(none.ask(SIGTERM, kStart), SIGTERM);
  EXPECT_EQ(none.tick(kStart), SIGKILL);
  Escalation endless(Duration::max());
  EXPECT_EQ(endless.ask(SIGTERM, kStart), SIGTERM);
  EXPECT_TRUE(endless.next().is_never());
}

TEST(Escalation, NoSignalFollowsAKill) {
  Escalation escalation(5s);
  EXPECT_EQ(escalation.ask(SIGKILL, kStart), SIGKILL);
  EXPECT_EQ(escalation.ask(SIGTERM, kStart), std::nullopt);
  EXPECT_TRUE(escalation.next().is_never());
}

}  // namespace
}  // namespace trireme::cluster::launch
