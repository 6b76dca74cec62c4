// Goal:   a rank that the kernel's out-of-memory killer killed is distinguished from one that got
//         kill -9.
// Method: the job runs in a memory control group of 64 MiB, of whichever version is available and
//         writable, and one rank uses more. The kill -9 is in kill_test.cpp.

#include "tests/folders.h"
#include "tests/process/job_fixture.h"
#include "tests/process/memory_group.h"

namespace trireme {
namespace {

using OomTest = JobTest;

TEST_F(OomTest, AKillByTheKernelIsReported) {
  const MemoryGroup group("oom-test", 64 << 20);
  if (group.path().empty()) GTEST_SKIP() << MemoryGroup::kMissing;
  // The shell moves itself into the group, then executes the job.
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
