// Goal:   a job that cannot fit on the host is refused with what is missing and what would fit.
// Method: handwritten values, and one measurement in a tree that looks like /proc.

#include "trireme/cluster/launch/host/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::host {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;
constexpr std::uint64_t kEach = 300'000'000;

TEST(Room, RefusesAJobThatDoesNotFitInMemory) {
  const Room room{.memory = 24 * kGib};
  EXPECT_EQ(mistake_in_size(room, {.ranks = 85, .memory_each = kEach}), "");
  const std::string mistake = mistake_in_size(room, {.ranks = 2000, .memory_each = kEach});
  EXPECT_THAT(mistake, HasSubstr("-n 2000 needs about 558.7 GiB, and 24.0 GiB of memory are left"));
  EXPECT_THAT(mistake, HasSubstr("at most -n 85 fits here"));
  EXPECT_EQ(mistake_in_size(room, {.ranks = 2000}), "") << "the memory per rank is unknown";
  EXPECT_EQ(mistake_in_size({}, {.ranks = 2000, .memory_each = kEach}), "");
}

TEST(Room, RefusesMoreProcessesAndFilesThanAllowed) {
  EXPECT_EQ(mistake_in_size({.processes = 1064}, {.ranks = 1000}), "");
  EXPECT_THAT(mistake_in_size({.processes = 1064}, {.ranks = 1001}),
              HasSubstr("at most -n 1000 fits"));
  EXPECT_THAT(mistake_in_size({.processes = 1064}, {.ranks = 200, .threads_each = 8}),
              HasSubstr("at most -n 125 fits"));
  EXPECT_THAT(mistake_in_size({.processes = 10}, {.ranks = 1}), HasSubstr("not even -n 1 fits"));
  EXPECT_THAT(mistake_in_size({.files = 1024}, {.ranks = 193}), HasSubstr("at most -n 192 fits"));
}

TEST(Room, UsesTheSmallestLimitOfTheKernel) {
  const TemporaryFolder folder("room-test");
  const auto write = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    std::ofstream(folder.path() / path) << text;
  };
  EXPECT_FALSE(Room::measure(folder.path()).memory);
  write("proc/meminfo", "MemTotal:  100 kB\nMemFree: 10 kB\nMemAvailable:   50 kB\n");
  write("proc/sys/kernel/threads-max", "900\n");
  write("proc/sys/kernel/pid_max", "800\n");
  EXPECT_EQ(Room::measure(folder.path()).memory, 51200u);
  EXPECT_EQ(Room::measure(folder.path()).processes, 800u);
  write("proc/self/cgroup", "0::/job\n");
  write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/job/memory.max", "40960\n");
  write("sys/fs/cgroup/job/pids.max", "max\n");
  EXPECT_EQ(Room::measure(folder.path()).memory, 40960u);
  EXPECT_EQ(Room::measure(folder.path()).processes, 800u);
}

}  // namespace
}  // namespace trireme::cluster::launch::host
