// Goal:   a process that is killed with SIGKILL at any point of saving leaves every earlier
//         checkpoint complete, and the next Saver sweeps its leftovers.
// Method: starts this binary as the writer, once per fault point, where it kills itself in the
//         second of two saves. The parent then reads the folder.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>

#include <csignal>

#include "tests/checkpoint/kill_at.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::checkpoint {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr const char* kKilledFolder = "TRIREME_TEST_KILL_FOLDER";
constexpr const char* kPoint = "TRIREME_TEST_KILL_POINT";

void save_and_die(testing::RankChannel& channel) {
  KillAt faults(std::getenv(kPoint));
  Saver saver({.folder = std::getenv(kKilledFolder),
               .retention = {.keep_last = 1, .keep_best = 0},
               .faults = &faults});
  saver.save(state_at(1), 1);
  saver.wait();
  channel.say("first");
  faults.arm();
  saver.save(state_at(2), 2);
  saver.wait();
  channel.say("survived");
}

TEST(CheckpointKilled, TheNewestCheckpointIsCompleteAfterAKillAtEveryPoint) {
  testing::RankProcesses::run_if_child(save_and_die);
  for (const FaultPoint point :
       {kSnapshotTaken, format::kPartHalfWritten, kPartWritten, kFileWritten, kFileRenamed,
        format::kManifestWritten, format::kStaged, format::kPublished, format::kRemovalBegun}) {
    SCOPED_TRACE(point.name);
    const TemporaryFolder folder("kill");
    testing::RankProcesses writer({.count = 1,
                                   .environment = {{kKilledFolder, folder.path().string()},
                                                   {kPoint, std::string(point.name)}}},
                                  save_and_die);
    const Deadline deadline = Deadline::after(60s);
    EXPECT_EQ(writer.hear(0, deadline), "first");
    const int status = writer.wait_exit(0, deadline);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;

    const auto newest = Checkpoint::newest_whole(folder.path());
    ASSERT_TRUE(newest.checkpoint.has_value());
    EXPECT_THAT(newest.skipped, IsEmpty());
    const bool is_published = point == format::kPublished || point == format::kRemovalBegun;
    EXPECT_EQ(newest.checkpoint->step(), is_published ? 2 : 1);
    for (const std::string& name : newest.checkpoint->names()) {
      EXPECT_TRUE(at::equal(newest.checkpoint->read(name),
                            torch::full({1009}, static_cast<float>(newest.checkpoint->step()))));
    }
    Saver next({.folder = folder.path()});
    EXPECT_TRUE(format::drafts_in(folder.path()).empty());
    next.save(state_at(3), 3);
    next.wait();
    EXPECT_EQ(Checkpoint::newest_whole(folder.path()).checkpoint->step(), 3);
  }
}

}  // namespace
}  // namespace trireme::checkpoint
