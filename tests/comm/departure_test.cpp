// Goal:   the departure of a rank's process is noticed in groups that the rank never created, and a
//         host with more ranks than can share memory is rejected on every rank.
// Method: ranks as threads, each with its own World; rosters built by hand.

#include <gtest/gtest.h>

#include <map>

#include "tests/cluster/store_server.h"
#include "trireme/comm/connect.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

TEST(Departure, EndsGroupsThatTheRankNeverCreated) {
  const cluster::StoreServer store;
  testing::run_rank_threads(3, [&](int rank) {
    const std::map<std::string, std::string> variables =
        store.variables({{"TRIREME_RANK", std::to_string(rank)},
                         {"TRIREME_SIZE", "3"},
                         {"TRIREME_JOB", "departure"}});
    const auto lookup = [&](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
    cluster::World world = cluster::World::join({.lookup = lookup, .timeout = 20s});
    const Group group =
        connect(world, {.transport = Transport::Shm, .timeout = 20s, .operation_timeout = 30s});
    group.barrier().wait();
    if (rank == 2) return;
    const Group sub = group.subgroup(std::vector<int>{0, 1, 2});
    try {
      sub.barrier().wait();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::PeerLost) << error.what();
      EXPECT_EQ(error.peer(), 2) << error.what();
    }
    // Groups without that rank continue.
    group.subgroup(std::vector<int>{0, 1}).barrier().wait();
  });
}

cluster::Roster roster_of(int ranks) {
  std::vector<cluster::Member> members;
  for (int rank = 0; rank < ranks; ++rank) {
    cluster::Member member;
    member.rank = rank;
    member.size = ranks;
    member.host = "id";
    member.host_name = "node7";
    members.push_back(member);
  }
  return cluster::Roster(0, members);
}

TEST(HostSizes, AHostWithTooManyRanksIsRefused) {
  check_host_sizes(roster_of(128));
  try {
    check_host_sizes(roster_of(129));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    for (const char* text : {"129 ranks", "node7", "at most 128", "Transport::Tcp"}) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace trireme::comm
