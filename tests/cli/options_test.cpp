// Goal:   the options of commands that start a job accept valid values only, and report
//         contradictions.
// Method: handmade texts and options, and a command with only the options for several hosts.

#include "trireme/cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RanksOption, IsANumberOrAuto) {
  int ranks = 0;
  EXPECT_EQ(set_ranks(ranks, "1"), "");
  EXPECT_EQ(ranks, 1);
  EXPECT_EQ(set_ranks(ranks, "4096"), "");
  EXPECT_EQ(ranks, 4096);
  EXPECT_EQ(set_ranks(ranks, "auto"), "");
  EXPECT_GE(ranks, 1);
  for (const char* wrong : {"", "0", "-1", "4097", "2x", "two", "1e3", "99999999999"}) {
    EXPECT_THAT(set_ranks(ranks, wrong), HasSubstr("number of ranks")) << wrong;
  }
}

TEST(GraceOption, AcceptsSeconds) {
  Duration grace = 5s;
  EXPECT_EQ(set_grace(grace, "590"), "");
  EXPECT_EQ(grace, Duration(590s));
  EXPECT_EQ(set_grace(grace, "0.5"), "");
  EXPECT_EQ(grace, Duration(500ms));
  for (const char* wrong : {"", "-1", "86401", "5s", "nan"}) {
    EXPECT_NE(set_grace(grace, wrong), "") << wrong;
  }
  EXPECT_EQ(grace, Duration(500ms));
}

TEST(StoreOption, AcceptsOnlyAnEtcdAddress) {
  std::string store;
  EXPECT_EQ(set_store(store, "etcd://a:1,[::1]:2"), "");
  EXPECT_EQ(store, "etcd://a:1,[::1]:2");
  EXPECT_THAT(set_store(store, "tcp://a:1"), HasSubstr("does not begin with etcd://"));
  EXPECT_THAT(set_store(store, "etcd://a"), HasSubstr("\"a\" is no HOST:PORT"));
  EXPECT_THAT(set_store(store, "etcd://a:1/mine"), HasSubstr("added by itself"));
  EXPECT_THAT(set_store(store, "etcd://u:p@a:1"), HasSubstr("password"));
  EXPECT_EQ(store, "etcd://a:1,[::1]:2") << "an invalid value changes nothing";
}

cluster::launch::JobSpec applied(const ElasticWords& words, int ranks) {
  cluster::launch::JobSpec spec;
  spec.ranks = ranks;
  words.apply(spec);
  return spec;
}

TEST(ElasticOption, ChangesOnlyTheGivenValues) {
  EXPECT_FALSE(applied({}, 4).elastic);
  const auto plain = applied({.is_on = true}, 4).elastic;
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->least, 1);
  EXPECT_EQ(plain->most, 128);
  const auto said =
      applied({.is_on = true, .least = 2, .most = 4, .restarts = 7, .orphan_timeout = 1.5}, 4);
  EXPECT_EQ(said.elastic->least, 2);
  EXPECT_EQ(said.elastic->most, 4);
  EXPECT_EQ(said.elastic->restarts_max, 7);
  EXPECT_EQ(said.elastic->orphan_timeout, 1500ms);
}

TEST(ElasticOption, RefusesLimitsThatContradictTheNumberOfRanks) {
  EXPECT_THROW(applied({.is_on = true, .least = 5}, 4), Error);
  EXPECT_THROW(applied({.is_on = true, .most = 3}, 4), Error);
  EXPECT_THROW(applied({.is_on = true}, 129), Error);
  EXPECT_THROW(applied({.least = 1}, 4), Error) << "not elastic";
}

class HostsOption : public ::testing::Test {
 protected:
  // What is wrong with these arguments; empty if nothing.
  std::string read(std::vector<std::string> words, bool has_ranks = false) {
    const auto hosts = std::make_shared<HostsWords>();
    Command command("run", "", "");
    add_hosts_options(command, hosts);
    std::string mistake;
    command.action([&] {
      try {
        hosts->apply(spec_, has_ranks);
        HostsWords::check(spec_);
      } catch (const Error& error) {
        mistake = error.message();
      }
      return 0;
    });
    EXPECT_EQ(command.run(words), 0);
    return mistake;
  }

  cluster::launch::JobSpec spec_;
};

TEST_F(HostsOption, SetsTheHostsOfAJob) {
  EXPECT_EQ(read({}), "");
  EXPECT_FALSE(spec_.hosts.has_value());
  EXPECT_EQ(read({"--hosts", "a:2,b", "--ssh", "ssh -p  22", "--interface", "eth1"}), "");
  EXPECT_EQ(spec_.ranks, 3);
  EXPECT_THAT(spec_.hosts->ssh, ElementsAre("ssh", "-p", "22"));
  EXPECT_EQ(spec_.hosts->interface, "eth1");
}

TEST_F(HostsOption, ReportsContradictions) {
  EXPECT_THAT(read({"--ssh", "x"}), HasSubstr("add --hosts"));
  EXPECT_THAT(read({"--hosts", "a", "--hostfile", "f"}), HasSubstr("say one of them"));
  EXPECT_THAT(read({"--hosts", "a", "--ssh", " "}), HasSubstr("--ssh: a command"));
  EXPECT_THAT(read({"--hosts", "a", "--interface", "x", "--address", "y"}),
              HasSubstr("say one of them"));
  spec_.ranks = 4;
  EXPECT_THAT(read({"--hosts", "a:3"}, true), HasSubstr("-n 4 contradicts the hosts"));
  EXPECT_EQ(read({"--hosts", "a:4"}, true), "");
  spec_.store = "etcd://a:1";
  EXPECT_THAT(read({"--hosts", "a:4"}), HasSubstr("meet with the launcher"));
  spec_.elastic.emplace();
  EXPECT_EQ(read({"--hosts", "a:4"}), "") << "workers of an elastic job meet in the store";
  spec_.hosts->has_login_shell = false;
  EXPECT_THROW(HostsWords::check(spec_), Error) << "Slurm ends what it started with its connection";
}

}  // namespace
}  // namespace trireme::cli
