// Goal:   a full disk is reported as Exhausted, the last good checkpoint remains, no files are left
//         over, and the next save succeeds once there is space.
// Method: a tmpfs of 256 KiB in the mount namespace of a child process; without the permission to
//         mount, or if only one of two ranks shall fail, a limit on the file size, which fails at
//         the same place with another errno.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <torch/torch.h>

#include <csignal>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::checkpoint {
namespace {

using namespace std::chrono_literals;

constexpr const char* kFolder = "TRIREME_TEST_DISK_FOLDER";

State state_of(std::int64_t count) {
  State state;
  state.add("w", torch::ones({count}));
  return state;
}

void limit_file_size() {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = 200'000, .rlim_max = 200'000};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

void make_small(const std::string& folder) {
  if (::unshare(CLONE_NEWNS) == 0 &&
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=256k") == 0) {
    return;
  }
  limit_file_size();
}

void fill(testing::RankChannel& channel) {
  const std::string folder = std::getenv(kFolder);
  make_small(folder);
  Saver saver({.folder = folder});
  saver.save(state_of(1000), 1);
  saver.wait();
  saver.save(state_of(100'000), 2);
  try {
    saver.wait();
    channel.say("400 kB fit into 256 KiB");
  } catch (const Error& error) {
    channel.say(name_of(error.code()));
  }
  channel.say(Checkpoint::newest_whole(folder).checkpoint->path().filename().string());
  channel.say(std::to_string(format::drafts_in(folder).size()));
  saver.save(state_of(2000), 3);
  saver.wait();
  channel.say(Checkpoint::newest_whole(folder).checkpoint->path().filename().string());
}

// Rank 1 has a part that does not fit; rank 0 must learn why. A limit on the file size instead of a
// full disk, on which rank 0's own part would not fit either until rank 1 removes its file.
void fill_by_rank_one(testing::RankChannel& channel) {
  const std::string folder = std::getenv(kFolder);
  limit_file_size();
  Saver first({.folder = folder, .writers = {.rank = 0, .ranks = 2, .tag = "a"}});
  Saver second({.folder = folder, .writers = {.rank = 1, .ranks = 2, .tag = "a"}});
  second.save(state_of(100'000), 1);
  first.save(state_of(1000), 1);
  try {
    first.wait();
    channel.say("400 kB fit into 256 KiB");
  } catch (const Error& error) {
    channel.say(error.message());
  }
}

TEST(CheckpointOnAFullDisk, TheReasonOfAnotherRankIsKnown) {
  testing::RankProcesses::run_if_child(fill_by_rank_one);
  const TemporaryFolder folder("full-disk");
  testing::RankProcesses writer({.count = 1, .environment = {{kFolder, folder.path().string()}}},
                                fill_by_rank_one);
  const std::string said = writer.hear(0, Deadline::after(60s));
  EXPECT_TRUE(
      said.starts_with("rank 1 could not write its part: writing " + folder.path().string()))
      << said;
  EXPECT_NE(said.find("part-00001.safetensors: "), std::string::npos) << said;
}

TEST(CheckpointOnAFullDisk, IsExhaustedAndTheLastGoodOneStays) {
  testing::RankProcesses::run_if_child(fill);
  const TemporaryFolder folder("full-disk");
  testing::RankProcesses writer({.count = 1, .environment = {{kFolder, folder.path().string()}}},
                                fill);
  const Deadline deadline = Deadline::after(60s);
  EXPECT_EQ(writer.hear(0, deadline), "Exhausted");
  EXPECT_EQ(writer.hear(0, deadline), "step-00000001");
  EXPECT_EQ(writer.hear(0, deadline), "0");
  EXPECT_EQ(writer.hear(0, deadline), "step-00000003");
}

}  // namespace
}  // namespace trireme::checkpoint
