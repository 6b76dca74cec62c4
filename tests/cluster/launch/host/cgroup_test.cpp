// Goal:   quotas and kill counts are found in both versions of control groups, also in containers,
//         and their absence is not an error.
// Method: small trees in a temporary folder that look like /proc and /sys/fs/cgroup.

#include "trireme/cluster/launch/host/cgroup.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::host {
namespace {

class CgroupTree : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const auto whole = folder_.path() / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  Cgroup read() const { return Cgroup(folder_.path()); }

  void make_version_2(const std::string& group, const std::string& mounted = "/") {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo",
          "30 23 0:26 " + mounted + " /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  }

  TemporaryFolder folder_{"cgroup-test"};
};

TEST_F(CgroupTree, AHostWithoutGroupsHasNoLimits) {
  EXPECT_EQ(read().processor_quota(), std::nullopt);
  EXPECT_EQ(read().oom_kills(), std::nullopt);
}

TEST_F(CgroupTree, Version2UsesTheSmallestQuotaOfAllParents) {
  make_version_2("/user/job");
  write("sys/fs/cgroup/user/job/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  EXPECT_EQ(read().processor_quota(), 1.5);
}

TEST_F(CgroupTree, Version2MaxIsNoLimit) {
  make_version_2("/user/job");
  write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  EXPECT_EQ(read().processor_quota(), std::nullopt);
}

TEST_F(CgroupTree, Version2CountsKills) {
  make_version_2("/user/job");
  write("sys/fs/cgroup/user/job/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 3\n");
  EXPECT_EQ(read().oom_kills(), 3u);
}

TEST_F(CgroupTree, ReadsTheMountedSubtreeInAContainer) {
  make_version_2("/docker/abc/inner", "/docker/abc");
  write("sys/fs/cgroup/inner/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(read().processor_quota(), 2.0);
}

TEST_F(CgroupTree, Version1QuotaAndKills) {
  write("proc/self/cgroup", "4:memory:/jobs/a\n2:cpu,cpuacct:/jobs/a\n0::/\n");
  write("proc/self/mountinfo",
        "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  write("sys/fs/cgroup/cpu,cpuacct/jobs/a/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu,cpuacct/jobs/a/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/jobs/a/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");
  EXPECT_EQ(read().processor_quota(), 2.5);
  EXPECT_EQ(read().oom_kills(), 7u);
}

TEST_F(CgroupTree, MalformedFilesAreNoLimit) {
  write("proc/self/cgroup", "garbage\n::\n0\n");
  write("proc/self/mountinfo", "1 2 3\n - \n");
  EXPECT_EQ(read().processor_quota(), std::nullopt);
  make_version_2("/job");
  write("sys/fs/cgroup/job/cpu.max", "banana\n");
  write("sys/fs/cgroup/job/memory.events", "oom_kill banana\n");
  EXPECT_EQ(read().processor_quota(), std::nullopt);
  EXPECT_EQ(read().oom_kills(), std::nullopt);
}

TEST(Cgroup, TheGroupOfThisProcessCanBeRead) {
  const auto quota = Cgroup().processor_quota();
  EXPECT_TRUE(!quota || *quota > 0);
}

}  // namespace
}  // namespace trireme::cluster::launch::host
