// Goal:   whatever happens to a process that watches a job, neither its descendants nor its folder
//         outlive it.
// Method: real processes and folders; the watching process is forked.

#include "trireme/cluster/launch/watch/run_or_sweep.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch {
namespace {

int run_in_child(const std::function<int()>& watcher) {
  const pid_t pid = fork();
  if (pid == 0) _exit(watcher());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(RunOrSweep, ReturnsTheExitCodeAndRemovesTheFolder) {
  const TemporaryFolder root("sweep");
  const job::Folder folder = job::Folder::create(root.path(), "fine");
  EXPECT_EQ(run_in_child([&] { return run_or_sweep(folder, [] { return 7; }); }), 7);
  EXPECT_FALSE(std::filesystem::exists(folder.path()));
}

TEST(RunOrSweep, AnExceptionKillsAllDescendants) {
  const TemporaryFolder root("sweep");
  const job::Folder folder = job::Folder::create(root.path(), "bad");
  int alive[2];
  ASSERT_EQ(pipe(alive), 0);
  const int code = run_in_child([&] {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return run_or_sweep(folder, [&]() -> int {
      if (fork() == 0) {
        // A process in another session whose parent exits, such as a daemon.
        setsid();
        if (fork() != 0) _exit(0);
        while (true) pause();
      }
      throw std::runtime_error("expected here: a test throws it");
    });
  });
  EXPECT_EQ(code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder.path()));
  // The read returns end of file once no process has the other end open.
  close(alive[1]);
  char byte = 0;
  EXPECT_EQ(::read(alive[0], &byte, 1), 0);
  close(alive[0]);
}

}  // namespace
}  // namespace trireme::cluster::launch
