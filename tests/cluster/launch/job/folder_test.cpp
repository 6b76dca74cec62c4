// Goal:   a job's folder is private, shows whether its job is alive, and does not outlive the job,
//         however the job died.
// Method: real folders; forked owners that are killed, alone and together with a forked process
//         that shares the lock.

#include "trireme/cluster/launch/job/folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/host/process_tree.h"

namespace trireme::cluster::launch::job {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

class JobFolder : public ::testing::Test {
 protected:
  // A process that owns a job until it is killed.
  pid_t start_owner(const std::string& name) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      const Folder folder = Folder::create(root(), name);
      [[maybe_unused]] const ssize_t size = write(ready[1], "x", 1);
      while (true) pause();
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
  }
  static void kill_and_reap(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  const fs::path& root() const { return folder_.path(); }

  TemporaryFolder folder_{"job-folder-test"};
};

TEST_F(JobFolder, IsPrivateAndHasASecret) {
  const Folder folder = Folder::create(root(), "demo");
  EXPECT_EQ(folder.name(), "demo");
  EXPECT_EQ(folder.path(), root() / "demo");
  EXPECT_EQ(mode_of(folder.path()), 0700u);
  EXPECT_EQ(mode_of(folder.secret()), 0600u);
  const std::string secret = read_file(folder.secret());
  EXPECT_EQ(secret.size(), 65u);
  EXPECT_EQ(secret.find_first_not_of("0123456789abcdef\n"), std::string::npos);
  const Folder other = Folder::create(root(), "");
  EXPECT_NE(read_file(other.secret()), secret);
  EXPECT_NE(other.name(), "demo");
  folder.remove();
  folder.remove();
  EXPECT_FALSE(fs::exists(folder.path()));
  other.remove();
}

TEST_F(JobFolder, ANameInUseIsRefused) {
  const Folder folder = Folder::create(root(), "demo");
  try {
    Folder::create(root(), "demo");
    FAIL() << "the name was given twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
  }
  EXPECT_TRUE(fs::exists(folder.secret()));
  EXPECT_THROW(Folder::create(root(), "../x"), Error);
  folder.remove();
}

TEST_F(JobFolder, IsAliveAsLongAsItsOwner) {
  EXPECT_TRUE(living(root()).empty());
  const pid_t owner = start_owner("demo");
  EXPECT_TRUE(is_alive(root() / "demo"));
  EXPECT_EQ(living(root()), std::vector<fs::path>{root() / "demo"});
  EXPECT_EQ(sweep(root()), 0);
  kill_and_reap(owner);
  EXPECT_FALSE(is_alive(root() / "demo"));
  EXPECT_TRUE(living(root()).empty());
  EXPECT_EQ(sweep(root()), 1);
  EXPECT_FALSE(fs::exists(root() / "demo"));
}

TEST_F(JobFolder, OfAKilledJobIsReplacedByTheNextJob) {
  kill_and_reap(start_owner("demo"));
  const Folder folder = Folder::create(root(), "demo");
  EXPECT_TRUE(is_alive(folder.path()));
  folder.remove();
}

// What may remain after a removing process was killed, or could not remove everything.
TEST_F(JobFolder, IsSweptAfterItsRemoverWasKilled) {
  for (const bool has_lock : {true, false}) {
    const fs::path left = root() / ".dead-0123456789abcdef";
    fs::create_directories(left / "deeper");
    std::ofstream(left / "late").put('\n');
    if (has_lock) std::ofstream(left / "lock").put('\n');
    EXPECT_TRUE(living(root()).empty());
    EXPECT_EQ(sweep(root()), 1);
    EXPECT_FALSE(fs::exists(left));
  }
}

TEST_F(JobFolder, MayBeRemovedAndSweptAtTheSameTime) {
  for (int round = 0; round < 20; ++round) {
    const Folder folder = Folder::create(root(), "demo");
    for (int i = 0; i < 100; ++i) std::ofstream(folder.path() / std::to_string(i));
    const pid_t sweeper = fork();
    if (sweeper == 0) {
      const Deadline deadline = Deadline::after(std::chrono::seconds(5));
      while (fs::exists(folder.path()) && !deadline.is_past()) {
      }
      for (int i = 0; i < 20; ++i) sweep_quietly(root());
      _exit(0);
    }
    folder.remove();
    waitpid(sweeper, nullptr, 0);
    for (const auto& entry : fs::directory_iterator(root())) {
      ASSERT_EQ(entry.path().filename(), ".lock") << "is left";
    }
  }
}

TEST_F(JobFolder, RemovingItTwiceKeepsTheNextJobOfTheSameName) {
  const Folder first = Folder::create(root(), "demo");
  first.remove();
  EXPECT_FALSE(fs::exists(root() / "demo"));
  const Folder next = Folder::create(root(), "demo");
  first.remove();
  EXPECT_TRUE(is_alive(next.path()));
  EXPECT_TRUE(fs::exists(next.secret()));
  next.remove();
  for (const auto& entry : fs::directory_iterator(root())) {
    EXPECT_EQ(entry.path().filename(), ".lock") << "is left";
  }
}

TEST_F(JobFolder, IsSharedByAForkedProcess) {
  auto folder = std::make_unique<Folder>(Folder::create(root(), "demo"));
  const pid_t sharer = fork();
  if (sharer == 0) {
    while (true) pause();
  }
  folder.reset();
  EXPECT_TRUE(is_alive(root() / "demo")) << "the other process still watches the job";
  kill_and_reap(sharer);
  EXPECT_FALSE(is_alive(root() / "demo"));
}

TEST_F(JobFolder, SweepingKeepsAFolderWithoutALockFile) {
  const Folder folder = Folder::create(root(), "demo");
  fs::remove(folder.path() / "lock");
  fs::create_directory(root() / "unborn");
  sweep(root());
  EXPECT_TRUE(fs::exists(folder.path() / "secret")) << "the job may still run";
  EXPECT_FALSE(fs::exists(root() / "unborn")) << "its creator died before it locked the folder";
  folder.remove();
}

TEST_F(JobFolder, SweepingKillsRemainingProcessesOfTheDeadJob) {
  fs::create_directory(root() / "dead");
  std::ofstream(root() / "dead/lock").put('\n');  // and no process holds it
  const std::string sign = "TRIREME_STORE=unix:" + (root() / "dead/control.sock").string();
  const pid_t stray = fork();
  if (stray == 0) {
    char* const arguments[] = {const_cast<char*>("sleep"), const_cast<char*>("100"), nullptr};
    char* const environment[] = {const_cast<char*>(sign.c_str()), nullptr};
    execve("/bin/sleep", arguments, environment);
    _exit(127);
  }
  // Until exec the process has this test's environment, and during exec none for a moment.
  const std::string file = "/proc/" + std::to_string(stray) + "/environ";
  std::string environment;
  while (environment.find(sign) == std::string::npos) {
    usleep(1000);
    std::ifstream in(file);
    environment.assign(std::istreambuf_iterator<char>(in), {});
  }
  EXPECT_EQ(sweep(root()), 1);
  int status = 0;
  EXPECT_EQ(waitpid(stray, &status, 0), stray);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

// A single pass over the process table misses processes that are started during the pass.
TEST_F(JobFolder, SweepingKillsProcessesStartedDuringThePass) {
  const std::string sign = "TRIREME_JOB_FOLDER=" + (root() / "dead").string();
  const auto strays = [&] {
    int count = 0;
    for (const host::Process& process : host::list_processes()) {
      std::ifstream in("/proc/" + std::to_string(process.pid) + "/environ");
      const std::string all(std::istreambuf_iterator<char>(in), {});
      count += all.find(sign) != std::string::npos ? 1 : 0;
    }
    return count;
  };
  for (int round = 0; round < 5; ++round) {
    fs::create_directory(root() / "dead");
    std::ofstream(root() / "dead/lock").put('\n');
    const std::string busy = "timeout 3 sh -c 'while :; do sleep 3 & sleep 0.002; done' &";
    ASSERT_EQ(std::system(("env " + sign + " setsid " + busy).c_str()), 0);
    const Deadline deadline = Deadline::after(std::chrono::milliseconds(2500));
    int seen = 0;
    while ((seen = strays()) < 10 && !deadline.is_past()) usleep(1000);
    ASSERT_GE(seen, 10) << "a process that starts others is still alive";
    EXPECT_EQ(sweep(root()), 1);
    EXPECT_EQ(strays(), 0);
  }
}

}  // namespace
}  // namespace trireme::cluster::launch::job
