// Goal:   if any rank of a group is killed with SIGKILL at any point of saving, every checkpoint in
//         the folder is complete, and the surviving rank continues to save alone.
// Method: starts this binary as two ranks, one of which kills itself in its second save. The other
//         is not notified: it becomes a group of one rank in the next epoch.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>

#include <csignal>

#include "tests/checkpoint/kill_at.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/fair_part.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::checkpoint {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr const char* kFolderVariable = "TRIREME_TEST_CREW_FOLDER";
constexpr const char* kPointVariable = "TRIREME_TEST_CREW_POINT";
constexpr const char* kVictimVariable = "TRIREME_TEST_CREW_VICTIM";

State part_of(int step, int rank, int ranks) {
  State state = state_at(step);
  state.pieces = fair_part(state.pieces, rank, ranks);
  return state;
}

void save_in_group(testing::RankChannel& channel) {
  const int rank = channel.rank();
  const bool is_victim = rank == std::atoi(std::getenv(kVictimVariable));
  KillAt faults(std::getenv(kPointVariable));
  Saver saver({.folder = std::getenv(kFolderVariable),
               .job = "job",
               .writers = {.rank = rank, .ranks = 2, .tag = "both"},
               .wait = 60s,
               .faults = &faults});
  saver.save(part_of(1, rank, 2), 1);
  saver.wait();
  channel.say("first");
  channel.hear();
  if (is_victim) faults.arm();
  saver.save(part_of(2, rank, 2), 2);
  if (is_victim) {
    saver.wait();
    channel.say("survived");
    return;
  }
  channel.hear();
  saver.regroup({.rank = 0, .ranks = 1, .tag = "alone", .epoch = 1});
  saver.settle();
  saver.save(part_of(3, 0, 1), 3);
  saver.wait();
  channel.say("third");
}

void kill_at(int victim, FaultPoint point) {
  SCOPED_TRACE("rank " + std::to_string(victim) + " at " + std::string(point.name));
  const TemporaryFolder folder("writer-kill");
  testing::RankProcesses ranks({.count = 2,
                                .environment = {{kFolderVariable, folder.path().string()},
                                                {kPointVariable, std::string(point.name)},
                                                {kVictimVariable, std::to_string(victim)}}},
                               save_in_group);
  const Deadline deadline = Deadline::after(120s);
  for (const std::string& said : ranks.hear_all(deadline)) EXPECT_EQ(said, "first");
  for (int rank = 0; rank < 2; ++rank) ranks.say(rank, "go on");
  const int status = ranks.wait_exit(victim, deadline);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  ranks.say(1 - victim, "alone");
  EXPECT_EQ(ranks.hear(1 - victim, deadline), "third");

  // Step 2 may be missing, but it is never incomplete: a single part of it is not a checkpoint.
  const auto listed = format::list_checkpoints(folder.path());
  EXPECT_GE(listed.size(), 2u);
  for (const auto& one : listed) {
    const Checkpoint read = Checkpoint::open(one.path);
    EXPECT_EQ(read.names().size(), 4u);
    for (const std::string& name : read.names()) {
      EXPECT_TRUE(at::equal(read.read(name), torch::full({1009}, static_cast<float>(one.step))));
    }
  }
  EXPECT_EQ(listed.back().step, 3);
  EXPECT_THAT(format::drafts_in(folder.path()), IsEmpty());
}

TEST(CheckpointGroupKilled, CheckpointsAreCompleteAfterAKillOfRankZero) {
  testing::RankProcesses::run_if_child(save_in_group);
  for (const FaultPoint point :
       {format::kPartHalfWritten, kPartsMet, format::kStaged, format::kPublished}) {
    kill_at(0, point);
  }
}

TEST(CheckpointGroupKilled, CheckpointsAreCompleteAfterAKillOfAnotherRank) {
  testing::RankProcesses::run_if_child(save_in_group);
  for (const FaultPoint point : {format::kPartHalfWritten, kFileRenamed}) {
    kill_at(1, point);
  }
}

}  // namespace
}  // namespace trireme::checkpoint
