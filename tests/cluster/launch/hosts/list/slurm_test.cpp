// Goal:   Slurm's lists of nodes and tasks are parsed as Slurm writes them.
// Method: handwritten lists, valid and invalid.

#include "trireme/cluster/launch/hosts/list/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

using ::testing::ElementsAre;

TEST(SlurmLists, NodeRangesAreExpanded) {
  EXPECT_THAT(expand_nodes("node1"), ElementsAre("node1"));
  EXPECT_THAT(expand_nodes("node[07-09,12],login"),
              ElementsAre("node07", "node08", "node09", "node12", "login"));
  EXPECT_THAT(expand_nodes("a[9-11]-ib"), ElementsAre("a9-ib", "a10-ib", "a11-ib"));
  for (const char* wrong : {"", "a,", "a[1", "a]1[", "a[3-1]", "a[1-]", "a[x]", "r[1-2]n[1-2]",
                            "a[1-99999]", "a[[1]]"}) {
    EXPECT_THROW(expand_nodes(wrong), Error) << wrong;
  }
}

TEST(SlurmLists, TasksAreCounted) {
  EXPECT_THAT(expand_counts("4"), ElementsAre(4));
  EXPECT_THAT(expand_counts("2(x3),1"), ElementsAre(2, 2, 2, 1));
  for (const char* wrong : {"", "0", "2(x", "2(x3", "2(3)", "a", "2(x0)", "-1"}) {
    EXPECT_THROW(expand_counts(wrong), Error) << wrong;
  }
}

TEST(SlurmLists, AnAllocationBecomesAListOfHosts) {
  const auto lookup = [](const char* name) -> const char* {
    if (std::strcmp(name, "SLURM_JOB_NODELIST") == 0) return "n[1-3]";
    return std::strcmp(name, "SLURM_TASKS_PER_NODE") == 0 ? "2(x2),1" : nullptr;
  };
  EXPECT_EQ(slurm_hosts(lookup), (std::vector<HostRanks>{{.name = "n1", .ranks = 2},
                                                         {.name = "n2", .ranks = 2},
                                                         {.name = "n3", .ranks = 1}}));
  EXPECT_THROW(slurm_hosts([](const char*) { return nullptr; }), Error);
  EXPECT_EQ(slurm_shell().front(), "srun");
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
