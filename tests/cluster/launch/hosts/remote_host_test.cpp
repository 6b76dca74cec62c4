// Goal:   a lost host is tried again, what is new about it is reported once, and its ranks count as
//         dead only once its agent must have killed them.
// Method: the state of one host; nothing is connected.

#include "trireme/cluster/launch/hosts/remote_host.h"

#include <gtest/gtest.h>

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;

class NoListener final : public HostLink::Listener {
  void on_started(HostLink&, const RankStart&) override {}
  void on_output(const OutputPiece&) override {}
  void on_ended(HostLink&, RankExit) override {}
  void on_living(HostLink&, const std::vector<RankStart>&) override {}
  void on_words(HostLink&, std::string_view) override {}
};

class RemoteHostTest : public ::testing::Test {
 protected:
  NoListener listener_;
  RemoteHost host_{{.host = "node2", .order = {.ranks = 4, .host = 1, .orphan_timeout = 60s}},
                   listener_};
};

TEST_F(RemoteHostTest, IsTriedAgainAndReportsEachReasonOnce) {
  EXPECT_FALSE(host_.on_up(TimePoint{100s})) << "it was not lost";
  EXPECT_TRUE(host_.is_up());
  EXPECT_EQ(host_.on_disconnected("ssh was killed", true),
            "host node2 was lost: ssh was killed; trying to reach it again");
  EXPECT_FALSE(host_.is_up());
  EXPECT_TRUE(host_.is_lost());
  EXPECT_FALSE(host_.retry().is_never());
  const TimePoint dead_by = host_.dead_by().when();
  EXPECT_GT(dead_by - steady_clock().now(), 60s + kSilenceMax);
  EXPECT_EQ(host_.on_disconnected("no route", true), "host node2 is not back yet: no route");
  EXPECT_EQ(host_.on_disconnected("no route", true), "");
  EXPECT_EQ(host_.why(), "ssh was killed") << "the reason for which its ranks are lost";
  EXPECT_EQ(host_.dead_by().when(), dead_by) << "its ranks have been alone since then";
  EXPECT_TRUE(host_.on_up(TimePoint{200s})) << "it is back";
  EXPECT_FALSE(host_.is_lost());
  EXPECT_TRUE(host_.dead_by().is_never());
}

TEST_F(RemoteHostTest, IsNotTriedAgainInAJobThatEndsWithIt) {
  host_.on_up(TimePoint{100s});
  EXPECT_EQ(host_.on_disconnected("ssh was killed", false), "");
  EXPECT_FALSE(host_.is_up());
  EXPECT_FALSE(host_.is_lost());
  EXPECT_TRUE(host_.retry().is_never());
  EXPECT_EQ(host_.why(), "ssh was killed");
}

TEST_F(RemoteHostTest, IsGivenUpAfterManyAttempts) {
  for (int i = 0; i <= Retry::kTriesMax; ++i) host_.on_disconnected("no route", true);
  EXPECT_TRUE(host_.is_given_up());
  EXPECT_TRUE(host_.retry().is_never());
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
