// Goal:   a rank that the kernel killed for want of memory is told from one that got kill -9.
// Method: the job runs in a memory control group of 64 MiB, of whichever version is there and
//         writable, and one rank takes more. The kill -9 is in kill_test.cpp.

#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "tests/folders.h"
#include "tests/process/job_fixture.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

// A memory control group of our own, gone with the object.
class MemoryGroup {
 public:
  explicit MemoryGroup(long limit) {
    const std::string name = "trireme-oom-test-" + std::to_string(getpid());
    for (const auto& [parent, file] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                                       {"/sys/fs/cgroup", "memory.max"}}) {
      std::error_code error;
      const fs::path path = fs::path(parent) / name;
      if (!fs::exists(fs::path(parent) / "cgroup.procs", error)) continue;
      if (!fs::create_directory(path, error)) continue;
      path_ = path;
      // Swap would delay the end; where there is no such file there is none to limit.
      std::ofstream(path / "memory.swap.max") << 0;
      if (std::ofstream(path / file) << limit << std::flush) return;
      fs::remove(path, error);
      path_.clear();
    }
  }
  ~MemoryGroup() {
    std::error_code error;
    for (int i = 0; i < 100 && !path_.empty() && !fs::remove(path_, error); ++i) usleep(10'000);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

using OomTest = JobTest;

TEST_F(OomTest, TheKernelsKillIsNamed) {
  const MemoryGroup group(64 << 20);
  if (group.path().empty()) {
    GTEST_SKIP() << "NOT TESTED: no writable memory control group (needs root, and memory among "
                    "the controllers of /sys/fs/cgroup)";
  }
  // The shell moves itself into the group, then becomes the job.
  Command job(
      {.command = {"/bin/sh", "-c",
                   "echo $$ > " + group.path().string() + "/cgroup.procs && exec " + program() +
                       " run -n 2 -- /bin/sh -c 'echo up; [ $TRIREME_RANK = 0 ] && exec "
                       "sleep 1000; exec " +
                       build_folder() + "/tests/hog'"}});
  EXPECT_EQ(job.wait_exit(Deadline::after(60s)), 137) << job.error();
  EXPECT_THAT(job.error(),
              HasSubstr("trireme: rank 1 failed: killed by the kernel's out-of-memory killer"));
}

}  // namespace
}  // namespace trireme
