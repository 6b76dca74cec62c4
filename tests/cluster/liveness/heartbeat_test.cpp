// Goal:   silence is counted correctly, no rank is accused because of this rank's own absence, and
//         every rank is checked by another rank.
// Method: the pure ledger with artificial times; duties for many layouts and losses.

#include "trireme/cluster/liveness/heartbeat.h"

#include <gtest/gtest.h>

#include <set>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

constexpr HeartbeatConfig kConfig{.interval = 1s, .timeout = 5s};
constexpr TimePoint kStart{};

TEST(HeartbeatLedger, ARankIsLateAfterTheTimeout) {
  HeartbeatLedger ledger(kConfig);
  for (int second = 0; second <= 4; ++second) ledger.look(3, 7, kStart + second * 1s);
  EXPECT_TRUE(ledger.late().empty());
  ledger.look(3, 7, kStart + 5s);
  ASSERT_EQ(ledger.late().size(), 1u);
  EXPECT_EQ(ledger.late()[0].rank, 3);
  EXPECT_EQ(ledger.late()[0].silence, 5s);
  ledger.look(3, 8, kStart + 6s);
  EXPECT_TRUE(ledger.late().empty()) << "its heartbeat has advanced";
}

TEST(HeartbeatLedger, ARankWithoutAnyHeartbeatIsLate) {
  HeartbeatLedger ledger(kConfig);
  for (int second = 0; second <= 5; ++second) ledger.look(1, std::nullopt, kStart + second * 1s);
  EXPECT_EQ(ledger.late().size(), 1u);
  ledger.forget(1);
  EXPECT_TRUE(ledger.late().empty());
}

TEST(HeartbeatLedger, ARankThatWasFrozenAccusesNoRank) {
  HeartbeatLedger ledger(kConfig);
  ledger.look(1, 7, kStart);
  ledger.look(1, 7, kStart + 1h);
  EXPECT_TRUE(ledger.late().empty()) << "this rank did not check for an hour";
  ledger.look(1, 7, kStart + 1h + 1s);
  ledger.look(1, 7, kStart + 1h + 2s);
  EXPECT_TRUE(ledger.late().empty());
  ledger.look(1, 7, kStart + 1h + 3s);
  EXPECT_EQ(ledger.late().size(), 1u) << "the rank is still silent after the checks resumed";
}

TEST(HeartbeatLedger, RefusesATimeoutWithinOneInterval) {
  EXPECT_THROW(HeartbeatLedger({.interval = 5s, .timeout = 5s}), Error);
  EXPECT_THROW(HeartbeatLedger({.interval = 0s, .timeout = 5s}), Error);
}

Roster roster_of(const std::vector<int>& hosts) {
  std::vector<Member> members;
  for (const int host : hosts) {
    Member member;
    member.rank = static_cast<int>(members.size());
    member.size = static_cast<int>(hosts.size());
    member.host = std::to_string(host);
    members.push_back(member);
  }
  return Roster(0, members);
}

TEST(HeartbeatDuties, TwoRanksOfOtherHostsCheckEachRankAfterAnyLosses) {
  for (const std::vector<int>& hosts :
       std::vector<std::vector<int>>{{0, 1}, {0, 1, 2}, {0, 0, 1, 1}, {0, 1, 0, 1, 2, 2, 2, 0}}) {
    const Roster roster = roster_of(hosts);
    const int size = roster.size();
    for (unsigned lost = 0; lost < 1u << size; ++lost) {
      const auto is_over = [&](int rank) { return (lost >> rank & 1) != 0; };
      for (int rank = 0; rank < size; ++rank) {
        if (is_over(rank)) continue;
        int checkers = 0;
        int others = 0;
        for (int self = 0; self < size; ++self) {
          if (self == rank || is_over(self)) continue;
          const bool is_beside = roster.host_of(self) == roster.host_of(rank);
          if (!is_beside) ++others;
          const auto is_proven = [&](int other) {
            return roster.host_of(self) == roster.host_of(other);
          };
          for (const int duty : heartbeat_duties(roster, self, is_proven, is_over)) {
            EXPECT_FALSE(is_over(duty));
            if (duty != rank) continue;
            ++checkers;
            EXPECT_FALSE(is_beside) << "ranks of the same host are watched through shared memory";
          }
        }
        EXPECT_EQ(checkers, std::min(others, 2)) << "rank " << rank << ", lost " << lost;
      }
    }
  }
}

TEST(HeartbeatDuties, ANeighbourWithoutSharedMemoryIsChecked) {
  const Roster roster = roster_of({0, 0, 0});
  const auto is_proven = [](int rank) { return rank == 1; };
  const auto none_over = [](int) { return false; };
  EXPECT_EQ(heartbeat_duties(roster, 0, is_proven, none_over), std::vector<int>{2});
}

TEST(HeartbeatDuties, AThousandRanksShareTheWork) {
  std::vector<int> hosts;
  for (int rank = 0; rank < 1000; ++rank) hosts.push_back(rank / 8);
  const Roster roster = roster_of(hosts);
  const auto is_proven = [](int) { return false; };
  const auto is_over = [](int) { return false; };
  for (int self = 0; self < 1000; self += 111) {
    // At most the seven other ranks of its own host, and two for each rank that has it as a
    // successor.
    EXPECT_LE(heartbeat_duties(roster, self, is_proven, is_over).size(), 7u + 16u);
  }
}

}  // namespace
}  // namespace trireme::cluster
