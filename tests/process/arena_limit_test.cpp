// Goal:   an arena that requests more memory than its control group has left fails with an error
//         that says so; the kernel's out-of-memory killer does not kill the process.
// Method: a process moves itself into a group of 64 MiB, or into a group without its own limit
//         below it, and allocates 32 MiB, then 256.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/process/memory_group.h"
#include "trireme/base/error.h"
#include "trireme/comm/arena.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;
using testing::RankChannel;
using testing::RankProcesses;

void take_too_much(RankChannel& channel) {
  std::ofstream(std::string(std::getenv("ARENA_GROUP")) + "/cgroup.procs") << ::getpid();
  try {
    const auto arena = Arena::create({.members = 1});
    const ArenaPiece fits = arena->allocate(0, std::size_t{32} << 20);
    channel.say("32 MiB");
    const ArenaPiece never = arena->allocate(0, std::size_t{256} << 20);
    channel.say("256 MiB");
  } catch (const Error& error) {
    channel.say(error.what());
  }
  channel.hear();
}

TEST(ArenaLimit, OfAControlGroupIsAnErrorAndNoKill) {
  RankProcesses::run_if_child(take_too_much);
  const MemoryGroup group("arena-test", 64 << 20);
  if (group.path().empty()) GTEST_SKIP() << MemoryGroup::kMissing;
  const std::filesystem::path inner = group.path() / "inner";
  std::error_code ignored;
  std::filesystem::create_directory(inner, ignored);
  for (const auto& path : {group.path(), inner}) {
    RankProcesses ranks({.count = 1, .environment = {{"ARENA_GROUP", path.string()}}},
                        take_too_much);
    EXPECT_EQ(ranks.hear(0, Deadline::after(30s)), "32 MiB");
    EXPECT_THAT(ranks.hear(0, Deadline::after(30s)), ::testing::HasSubstr("[Exhausted]"));
  }
  for (int i = 0; i < 100 && !std::filesystem::remove(inner, ignored); ++i) ::usleep(10'000);
}

}  // namespace
}  // namespace trireme::comm
