// Goal:   the launcher knows on which of several hosts each rank runs, what it wrote and how it
//         ended.
// Method: handwritten values; a log in a temporary folder.

#include "trireme/cluster/launch/hosts/hosted_ranks.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::hosts {
namespace {

TEST(HostedRanks, KnowsTheHostOfEachRank) {
  output::Writer writer;
  HostedRanks hosted_ranks("", writer);
  for (int rank : {0, 1, 2}) hosted_ranks.add(rank, rank == 2 ? 1 : 0);
  EXPECT_TRUE(hosted_ranks.has(2, 1));
  EXPECT_EQ(hosted_ranks.host_of(2), 1u);
  EXPECT_FALSE(hosted_ranks.has(2, 0));
  EXPECT_FALSE(hosted_ranks.has(3, 0));
  EXPECT_EQ(hosted_ranks.at(0), (std::vector<int>{0, 1}));
  hosted_ranks.set_reachable(2, false);
  EXPECT_EQ(hosted_ranks.living(), 2);
  EXPECT_EQ(hosted_ranks.living_by_host(2), (std::vector<int>{2, 0}));
  EXPECT_TRUE(hosted_ranks.has(2, 1)) << "a rank on an unreachable host may still run";
  const job::WorkerList list = hosted_ranks.worker_list();
  EXPECT_EQ(list.next, 3);
  ASSERT_EQ(list.members.size(), 3u);
  EXPECT_EQ(list.members[2].share, 1);
  hosted_ranks.set_reachable(2, true);
  hosted_ranks.set_killed(0, "it did not join");
  EXPECT_EQ(describe(hosted_ranks.end({.rank = 0, .status = SIGKILL})), "it did not join");
  EXPECT_FALSE(hosted_ranks.has(0, 0));
  EXPECT_EQ(hosted_ranks.living(), 2);
  EXPECT_EQ(hosted_ranks.records().exits().size(), 1u);
}

TEST(HostedRanks, KeepsLateOutputOfTheLatestForgottenRanks) {
  const TemporaryFolder folder("hosted-ranks");
  output::Writer writer;
  HostedRanks hosted_ranks(folder.path(), writer);
  constexpr int kCount = static_cast<int>(HostedRanks::kForgottenMax) + 10;
  for (int rank = 0; rank < kCount; ++rank) {
    hosted_ranks.add(rank, 0);
    hosted_ranks.end({.rank = rank});
  }
  hosted_ranks.records().forget_exits();
  hosted_ranks.release_forgotten();
  EXPECT_TRUE(hosted_ranks.records().exits().empty());
  hosted_ranks.records().feed(kCount - 1, 1, "late");
  hosted_ranks.records().feed(0, 1, "too late");
  hosted_ranks.records().finish();
  const auto log = [&](int rank) {
    return read_file(folder.path() / ("rank-" + std::to_string(rank) + ".log"));
  };
  EXPECT_EQ(log(kCount - 1), "late");
  EXPECT_EQ(log(0), "");
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
