// Goal:   every descendant is found and killed: children, grandchildren, those that left their
//         session, and those whose parent has exited; and no other process is.
// Method: real processes, in a forked process that is their subreaper, so that nothing in the
//         test's own process changes.

#include "trireme/cluster/launch/host/process_tree.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

namespace trireme::cluster::launch::host {
namespace {

using namespace std::chrono_literals;

// Runs `body` in a separate process; its result is the exit code.
int in_child(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[noreturn]] void sleep_for_ever() {
  while (true) pause();
}

// Starts a child, its child, and a daemon that left session and parents; returns when all three
// run.
void start_family() {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const auto say = [&] { ASSERT_EQ(write(ready[1], "x", 1), 1); };
  if (fork() == 0) {
    if (fork() == 0) {
      say();
      sleep_for_ever();
    }
    if (fork() == 0) {
      setsid();
      if (fork() != 0) _exit(0);
      signal(SIGTERM, SIG_IGN);
      say();
      sleep_for_ever();
    }
    say();
    sleep_for_ever();
  }
  char byte = 0;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(read(ready[0], &byte, 1), 1);
}

TEST(ProcessTree, FindsItselfAndItsParent) {
  const auto self = find_process(getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, getppid());
  EXPECT_FALSE(self->is_zombie);
  EXPECT_FALSE(self->is_dying);
  EXPECT_EQ(find_process(0x3fffffff), std::nullopt);
}

TEST(ProcessTree, DescendantsIncludeGrandchildren) {
  const std::vector<Process> all{{.pid = 7, .parent = 5}, {.pid = 5, .parent = 2},
                                 {.pid = 2, .parent = 1}, {.pid = 3, .parent = 1},
                                 {.pid = 8, .parent = 7}, {.pid = 1, .parent = 0}};
  std::vector<pid_t> found;
  for (const Process& process : descendants_of(2, all)) found.push_back(process.pid);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<pid_t>{5, 7, 8}));
  EXPECT_TRUE(descendants_of(8, all).empty());
  EXPECT_TRUE(descendants_of(99, all).empty());
}

TEST(ProcessTree, KillsDaemonsAndReparentedProcesses) {
  EXPECT_EQ(in_child([] {
              become_subreaper();
              start_family();
              if (descendants_of(getpid(), list_processes()).size() < 3) return 1;
              const auto left = kill_descendants(Deadline::after(60s), [](pid_t, int) {});
              if (left != 0) return 2;
              return descendants_of(getpid(), list_processes()).empty() ? 0 : 3;
            }),
            0);
}

TEST(ProcessTree, KillingReportsTheStatusOfEachReapedChild) {
  EXPECT_EQ(in_child([] {
              const pid_t child = fork();
              if (child == 0) sleep_for_ever();
              int reaped = 0;
              int status = 0;
              kill_descendants(Deadline::after(60s), [&](pid_t pid, int how) {
                if (pid == child) {
                  ++reaped;
                  status = how;
                }
              });
              return reaped == 1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 1;
            }),
            0);
}

TEST(ProcessTree, ReapingReportsTheProcessAndItsStatus) {
  const int code = in_child([] {
    const pid_t pid = fork();
    if (pid == 0) _exit(7);
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0) return 1;
    const auto zombie = find_process(pid);
    int told = 0;
    bool is_right = false;
    reap_known_children([&](const Process& process, int status) {
      ++told;
      is_right = process.pid == pid && zombie && process.start == zombie->start &&
                 process.start > 0 && WEXITSTATUS(status) == 7;
    });
    return told == 1 && is_right && !find_process(pid) ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
}

TEST(ProcessTree, KillingWithoutDescendantsSucceeds) {
  EXPECT_EQ(in_child([] {
              return static_cast<int>(kill_descendants(Deadline::after(0s), [](pid_t, int) {}));
            }),
            0);
}

TEST(ProcessTree, AZombieIsReportedAsOne) {
  EXPECT_EQ(in_child([] {
              const pid_t child = fork();
              if (child == 0) _exit(0);
              siginfo_t info{};
              if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) != 0) return 1;
              const auto process = find_process(child);
              return process && process->is_zombie && process->is_dying ? 0 : 2;
            }),
            0);
}

int wait_for_ever(void*) {
  while (true) syscall(SYS_pause);
}

// It cannot be reaped yet, and it still uses its memory and its ports.
TEST(ProcessTree, AProcessWhoseFirstThreadHasEndedIsNoZombie) {
  const int code = in_child([] {
    alignas(16) static char stack[16384];
    const pid_t child = fork();
    if (child == 0) {
      clone(wait_for_ever, stack + sizeof(stack), CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, nullptr);
      syscall(SYS_exit, 0);
    }
    const auto is_first_thread_zombie = [&] {
      std::ifstream file("/proc/" + std::to_string(child) + "/stat");
      const std::string text(std::istreambuf_iterator<char>(file), {});
      return text.find(") Z ") != std::string::npos;
    };
    const Deadline deadline = Deadline::after(10s);
    while (!is_first_thread_zombie()) {
      if (deadline.is_past()) return 1;
      usleep(1000);
    }
    const auto process = find_process(child);
    if (!process || process->is_zombie) return 2;
    if (kill_descendants(Deadline::after(10s), [](pid_t, int) {}) != 0) return 3;
    return find_process(child) ? 4 : 0;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace trireme::cluster::launch::host
