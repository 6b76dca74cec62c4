// Goal:   the ranks of a job on several hosts are controlled only where the host is up, and those
//         of a dead launcher are unreachable until their host is.
// Method: the states of two hosts; nothing is connected.

#include "trireme/cluster/launch/hosts/remote_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

using ::testing::ElementsAre;

class RemoteRanksTest : public ::testing::Test, public HostLink::Listener, public HostListener {
 protected:
  RemoteRanksTest() {
    for (int i : {0, 1}) {
      hosts_.push_back(std::make_unique<RemoteHost>(
          HostLink::Options{.host = "node" + std::to_string(i), .order = {.ranks = 2, .host = i}},
          *this));
    }
    ranks_.begin(*this);
  }

  output::Writer writer_;
  HostedRanks hosted_ranks_{"", writer_};
  RemoteHosts hosts_;
  RemoteRanks ranks_{hosts_, hosted_ranks_};
  std::vector<int> unreachable_;

 private:
  void on_started(HostLink&, const RankStart&) override {}
  void on_output(const OutputPiece&) override {}
  void on_ended(HostLink&, RankExit) override {}
  void on_living(HostLink&, const std::vector<RankStart>&) override {}
  void on_words(HostLink&, std::string_view) override {}
  void on_started(int, const Record&) override {}
  void on_ended(const RankExit&, const std::string&) override {}
  void on_unreachable(int rank) override { unreachable_.push_back(rank); }
  void on_given_up(const std::string&, int) override {}
  int wanted() const override { return 4; }
  bool is_done() const override { return false; }
};

TEST_F(RemoteRanksTest, AreReadyOnceEveryHostIsConnectedOrLost) {
  EXPECT_FALSE(ranks_.is_ready());
  hosts_[0]->on_up({});
  EXPECT_FALSE(ranks_.is_ready());
  hosts_[1]->on_disconnected("no route", true);
  EXPECT_TRUE(ranks_.is_ready());
  EXPECT_EQ(ranks_.room(4), 2) << "the ranks of the lost host are not moved";
}

TEST_F(RemoteRanksTest, NoneStartsIfNoHostIsReachable) {
  for (const auto& host : hosts_) host->on_disconnected("no route", true);
  try {
    ranks_.start_rank(4, {});
    FAIL() << "it started somewhere";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unreachable);
  }
  EXPECT_EQ(ranks_.worker_list().next, 0);
}

TEST_F(RemoteRanksTest, ThoseOfADeadLauncherAreUnreachableUntilTheirHostIsUp) {
  ranks_.take_over({.next = 7, .members = {{.worker = 3, .share = 1}, {.worker = 6}}});
  EXPECT_THAT(unreachable_, ElementsAre(3, 6));
  EXPECT_EQ(ranks_.living(), 0);
  EXPECT_EQ(hosted_ranks_.host_of(3), 1u);
  EXPECT_EQ(ranks_.worker_list().next, 7);
  ASSERT_EQ(ranks_.worker_list().members.size(), 2u);
  ranks_.kill_rank(3, "its host is not connected");
  ranks_.kill_rank(5, "no launcher recorded it");
  ranks_.signal(SIGTERM);
  EXPECT_EQ(describe(hosted_ranks_.end({.rank = 3, .status = SIGTERM})),
            "killed by signal 15 (SIGTERM)");
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
