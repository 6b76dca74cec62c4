// Goal:   the ranks of an epoch are grouped by host: the ranks that share a set of shards, the
//         ranks that hold the same shard on other hosts, and the leader of each host.
// Method: ranks as threads on two hosts, with equal and with different numbers of ranks.

#include "trireme/parallel/data/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/comm/host_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

using ::testing::ElementsAre;

void on_hosts(const std::vector<int>& hosts,
              const std::function<void(const comm::Group& group)>& check) {
  const std::vector<comm::Group> groups = comm::connect_hosts(hosts);
  testing::run_rank_threads(static_cast<int>(hosts.size()), [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    check(group);
    group.barrier().wait();
  });
}

TEST(Placement, HostsWithEqualNumbersOfRanksHaveReplicasOfEveryShard) {
  on_hosts({0, 0, 1, 1}, [](const comm::Group& group) {
    const Placement where = Placement::of_epoch(group, {5, 6, 7, 8}, true);
    EXPECT_EQ(where.host.size(), 2);
    EXPECT_EQ(where.host.rank(), group.rank() % 2);
    EXPECT_EQ(where.across.size(), 2);
    EXPECT_EQ(where.across.rank(), group.rank() / 2);
    EXPECT_EQ(where.replicas, 2);
    EXPECT_FALSE(where.is_uneven);
    EXPECT_THAT(where.host_leaders, ElementsAre(0, 2));
    EXPECT_EQ(where.own_place(), 5 + group.rank());
    EXPECT_EQ(where.host_index, group.rank() / 2);
    EXPECT_EQ(where.is_first_holder(), group.rank() < 2);
  });
}

TEST(Placement, HostsWithDifferentNumbersOfRanksHaveNoRankAcross) {
  on_hosts({0, 0, 1}, [](const comm::Group& group) {
    const Placement where = Placement::of_epoch(group, {0, 1, 0}, true);
    EXPECT_TRUE(where.is_uneven);
    EXPECT_EQ(where.across.size(), 1);
    EXPECT_EQ(where.replicas, 2);
    EXPECT_EQ(where.host.size(), group.rank() < 2 ? 2 : 1);
    EXPECT_EQ(where.is_first_holder(), group.rank() < 2);
  });
}

TEST(Placement, WithoutHostsAllRanksShareOneSetOfShards) {
  on_hosts({0, 0, 1}, [](const comm::Group& group) {
    const Placement where = Placement::of_epoch(group, {0, 1, 2}, false);
    EXPECT_EQ(where.host.size(), 3);
    EXPECT_EQ(where.replicas, 1);
    EXPECT_THAT(where.places, ElementsAre(0, 1, 2));
    EXPECT_THAT(where.host_leaders, ElementsAre(0));
    EXPECT_TRUE(where.is_first_holder());
  });
}

}  // namespace
}  // namespace trireme::parallel::data
