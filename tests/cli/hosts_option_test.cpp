// Goal:   the options for several hosts set a job's hosts, and contradictions are reported.
// Method: a command with only these options.

#include "trireme/cli/hosts_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
