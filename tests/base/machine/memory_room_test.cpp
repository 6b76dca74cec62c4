// Goal:   the available memory is the minimum over the host and all control groups of the process,
//         in both versions, and reclaimable file pages count as available.
// Method: small trees in a temporary folder that look like /proc and /sys/fs/cgroup.
//         tests/process/arena_limit_test.cpp shows that a real group's limit causes an error
//         instead of a kill.

#include "trireme/base/machine/memory_room.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file/temporary_folder.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

class MemoryRoomTree : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const fs::path whole = folder_.path() / path;
    fs::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  void make_host(const std::string& cgroup, const std::string& mount) {
    write("proc/meminfo", "MemTotal: 8000 kB\nMemFree: 10 kB\nMemAvailable: 4000 kB\n");
    write("proc/self/cgroup", cgroup);
    write("proc/self/mountinfo", mount);
  }
  void make_version_2() {
    make_host("0::/job/rank\n", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  }
  void make_version_1() {
    make_host("4:memory:/job/rank\n", "30 23 0:26 / /cg rw - cgroup cgroup rw,memory\n");
  }
  std::uint64_t room() const { return memory_room(folder_.path()); }

  TemporaryFolder folder_{"memory-room-test"};
};

TEST_F(MemoryRoomTree, WithoutReadableFilesThereIsNoLimit) {
  EXPECT_EQ(room(), UINT64_MAX);
}

TEST_F(MemoryRoomTree, WithoutLimitsTheHostsMemoryCounts) {
  make_version_2();
  write("cg/job/rank/memory.max", "max\n");
  write("cg/job/rank/memory.current", "123456\n");
  EXPECT_EQ(room(), 4000u * 1024);
}

TEST_F(MemoryRoomTree, AParentGroupLimitsTheProcess) {
  make_version_2();
  write("cg/job/rank/memory.max", "3000000\n");
  write("cg/job/rank/memory.current", "1000000\n");
  write("cg/job/memory.max", "1500000\n");
  write("cg/job/memory.current", "1200000\n");
  EXPECT_EQ(room(), 300000u);
}

TEST_F(MemoryRoomTree, ReclaimableFilePagesAreAvailable) {
  make_version_2();
  write("cg/job/rank/memory.max", "3000000\n");
  write("cg/job/rank/memory.current", "3000000\n");
  write("cg/job/rank/memory.stat", "anon 1000000\nactive_file 5\ninactive_file 700000\n");
  EXPECT_EQ(room(), 700000u);
}

TEST_F(MemoryRoomTree, ReadsTheFilesOfVersion1) {
  make_version_1();
  write("cg/job/rank/memory.limit_in_bytes", "9223372036854771712\n");
  write("cg/job/rank/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(room(), 4000u * 1024);
  write("cg/job/memory.limit_in_bytes", "2000000\n");
  write("cg/job/memory.usage_in_bytes", "1900000\n");
  write("cg/job/memory.stat", "inactive_file 1\ntotal_inactive_file 50000\n");
  EXPECT_EQ(room(), 150000u);
}

TEST_F(MemoryRoomTree, AFullGroupHasNoMemoryAvailable) {
  make_version_1();
  write("cg/job/rank/memory.limit_in_bytes", "2000\n");
  write("cg/job/rank/memory.usage_in_bytes", "3000\n");
  EXPECT_EQ(room(), 0u);
}

}  // namespace
}  // namespace trireme
