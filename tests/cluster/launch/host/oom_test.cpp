// Goal:   an out-of-memory kill is distinguished from kill -9, with the certainty that the readable
//         sources allow.
// Method: an artificial /proc and control group whose counts increase; a file instead of the
//         kernel's log. A real out-of-memory kill is in tests/process/oom_test.cpp.

#include "trireme/cluster/launch/host/oom.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::host {
namespace {

class OomTree : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text, bool is_more = false) {
    const auto whole = folder_.path() / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, is_more ? std::ios::app : std::ios::trunc) << text;
  }
  void make_group(int kills) {
    write("proc/self/cgroup", "0::/job\n");
    write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    set_group(kills);
  }
  void set_group(int kills) {
    write("sys/fs/cgroup/job/memory.events", "oom_kill " + std::to_string(kills) + "\n");
  }
  void set_host(int kills) {
    write("proc/vmstat", "nr_free_pages 5\noom_kill " + std::to_string(kills) + "\n");
  }

  TemporaryFolder folder_{"oom-test"};
};

TEST_F(OomTree, WithoutReadableSourcesNothingIsReported) {
  OomWatch watch(folder_.path());
  EXPECT_EQ(watch.explain(17), OomKill::No);
}

TEST_F(OomTree, EachKillCountedByTheGroupExplainsOneDeath) {
  make_group(4);
  OomWatch watch(folder_.path());
  EXPECT_EQ(watch.explain(17), OomKill::No);
  set_group(5);
  EXPECT_EQ(watch.explain(17), OomKill::Proven);
  EXPECT_EQ(watch.explain(18), OomKill::No) << "one kill explains one death";
}

TEST_F(OomTree, TheHostsCountAloneIsReportedAsLikely) {
  set_host(1);
  OomWatch watch(folder_.path());
  EXPECT_EQ(watch.explain(17), OomKill::No);
  set_host(2);
  EXPECT_EQ(watch.explain(17), OomKill::Likely);
  EXPECT_EQ(watch.explain(18), OomKill::No);
}

TEST_F(OomTree, TheKernelsLogNamesTheVictim) {
  write("dev/kmsg", "6,1,1,-;Out of memory: Killed process 99 (old)\n");
  OomWatch watch(folder_.path());
  EXPECT_EQ(watch.explain(99), OomKill::No) << "the kill was logged before the job started";
  write("dev/kmsg",
        "3,2,2,-;Memory cgroup out of memory: Killed process 17 (hog) total-vm:1kB\n"
        "3,3,3,-;Out of memory: Killed process 171 (other)\n",
        true);
  EXPECT_EQ(watch.explain(71), OomKill::No);
  EXPECT_EQ(watch.explain(1), OomKill::No);
  EXPECT_EQ(watch.explain(17), OomKill::Proven);
  EXPECT_EQ(watch.explain(171), OomKill::Proven);
}

}  // namespace
}  // namespace trireme::cluster::launch::host
