// Goal:   a rank gets its identity, the user's own settings are kept, and those of an outer job are
//         not.
// Method: handwritten environments.

#include "trireme/cluster/launch/rank/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trireme::cluster::launch {
namespace {

const RankPlace kPlace{.rank = 2, .size = 4, .threads = 3, .job = "demo", .folder = "/run/t/demo"};

TEST(Environment, ContainsRankSizeJobAndStore) {
  const EnvironmentVariables environment = environment_of(kPlace, {"HOME=/root"});
  EXPECT_EQ(find(environment, "TRIREME_RANK"), "2");
  EXPECT_EQ(find(environment, "TRIREME_SIZE"), "4");
  EXPECT_EQ(find(environment, "TRIREME_LOCAL_RANK"), "2");
  EXPECT_EQ(find(environment, "TRIREME_LOCAL_SIZE"), "4");
  EXPECT_EQ(find(environment, "TRIREME_JOB"), "demo");
  EXPECT_EQ(find(environment, "TRIREME_STORE"), "unix:/run/t/demo/control.sock");
  EXPECT_EQ(find(environment, "TRIREME_JOB_FOLDER"), "/run/t/demo");
  EXPECT_EQ(find(environment, "TRIREME_SECRET_FILE"), "/run/t/demo/secret");
  EXPECT_EQ(find(environment, "TRIREME_THREADS"), "3");
  EXPECT_EQ(find(environment, "OMP_NUM_THREADS"), "3");
  EXPECT_EQ(find(environment, "MKL_NUM_THREADS"), "3");
  EXPECT_EQ(find(environment, "HOME"), "/root");
  EXPECT_EQ(find(environment, "TRIREME"), std::nullopt);
}

TEST(Environment, ContainsTheConfiguredStore) {
  RankPlace place = kPlace;
  place.store = "etcd://a:1/demo-12";
  EXPECT_EQ(find(environment_of(place, {}), "TRIREME_STORE"), "etcd://a:1/demo-12");
}

TEST(Environment, ContainsLocalRankAndAddressOnSeveralHosts) {
  RankPlace place = kPlace;
  place.store = place.feed = "tcp://10.0.0.1:4711";
  place.address = "10.0.0.2";
  place.first = 2;
  place.local_size = 2;
  const EnvironmentVariables environment = environment_of(place, {"TRIREME_ADDRESS=outer"});
  EXPECT_EQ(find(environment, "TRIREME_SIZE"), "4");
  EXPECT_EQ(find(environment, "TRIREME_LOCAL_RANK"), "0");
  EXPECT_EQ(find(environment, "TRIREME_LOCAL_SIZE"), "2");
  EXPECT_EQ(find(environment, "TRIREME_FEED"), "tcp://10.0.0.1:4711");
  EXPECT_EQ(find(environment, "TRIREME_ADDRESS"), "10.0.0.2");
  EXPECT_EQ(find(environment_of(kPlace, environment), "TRIREME_ADDRESS"), std::nullopt);
  EXPECT_EQ(find(environment_of(kPlace, environment), "TRIREME_FEED"), std::nullopt);
}

TEST(Environment, KeepsTheUsersThreadCounts) {
  const EnvironmentVariables inherited{"OMP_NUM_THREADS=7", "MKL_NUM_THREADS="};
  EXPECT_EQ(threads_wanted(inherited), 7);
  const EnvironmentVariables environment = environment_of(kPlace, inherited);
  EXPECT_EQ(find(environment, "OMP_NUM_THREADS"), "7");
  EXPECT_EQ(find(environment, "MKL_NUM_THREADS"), "3");
}

TEST(Environment, ReplacesTheVariablesOfAnOuterJob) {
  const EnvironmentVariables outer =
      environment_of({.rank = 1, .size = 2, .threads = 8, .job = "outer", .folder = "/o"}, {"A=b"});
  EXPECT_EQ(threads_wanted(outer), 0) << "the user did not set the outer job's thread count";
  const EnvironmentVariables inner = environment_of(kPlace, outer);
  EXPECT_EQ(find(inner, "OMP_NUM_THREADS"), "3");
  EXPECT_EQ(find(inner, "TRIREME_JOB"), "demo");
  EXPECT_EQ(std::count_if(inner.begin(), inner.end(),
                          [](const auto& text) { return text.starts_with("TRIREME_RANK="); }),
            1);
}

TEST(Environment, RemovesVariablesOfOtherLaunchers) {
  for (const char* name : {"TRIREME_SECRET", "TRIREME_STORE_RANK"}) {
    EXPECT_EQ(find(environment_of(kPlace, {std::string(name) + "=0"}), name), std::nullopt);
  }
}

TEST(Environment, ReadsTheFirstLevelOfNestedOpenMpCounts) {
  EXPECT_EQ(threads_wanted({"OMP_NUM_THREADS=4,2"}), 4);
  EXPECT_EQ(threads_wanted({"OMP_NUM_THREADS=many"}), 0);
  EXPECT_EQ(threads_wanted({"OMP_NUM_THREADS=-1"}), 0);
  EXPECT_EQ(threads_wanted({}), 0);
}

TEST(Environment, OwnEnvironmentIsThatOfThisProcess) {
  EXPECT_EQ(find(own_environment(), "PATH").has_value(), getenv("PATH") != nullptr);
}

}  // namespace
}  // namespace trireme::cluster::launch
