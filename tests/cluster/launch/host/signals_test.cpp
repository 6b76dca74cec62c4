// Goal:   signals can be read as numbers, an ignored one stays ignored, and the mask is restored.
// Method: a forked process signals itself, so that the test's own mask and handlers do not change.

#include "trireme/cluster/launch/host/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace trireme::cluster::launch::host {
namespace {

int in_child(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Signals, AreReadAsNumbers) {
  EXPECT_EQ(in_child([] {
              SignalQueue queue({SIGTERM, SIGUSR1});
              if (queue.next()) return 1;
              raise(SIGUSR1);
              if (queue.next() != SIGUSR1) return 2;
              raise(SIGTERM);
              if (queue.next() != SIGTERM) return 3;
              return queue.next() ? 4 : 0;
            }),
            0);
}

TEST(Signals, AnIgnoredSignalStaysIgnored) {
  EXPECT_EQ(in_child([] {
              signal(SIGHUP, SIG_IGN);
              SignalQueue queue({SIGHUP, SIGTERM});
              raise(SIGHUP);
              return queue.next() ? 1 : 0;
            }),
            0);
}

TEST(Signals, SigchldIsReadEvenIfItWasIgnored) {
  EXPECT_EQ(in_child([] {
              signal(SIGCHLD, SIG_IGN);
              SignalQueue queue({});
              const pid_t child = fork();
              if (child == 0) _exit(3);
              int status = 0;
              if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3) return 1;
              return queue.next() == SIGCHLD ? 0 : 2;
            }),
            0);
}

TEST(Signals, TheMaskIsRestored) {
  EXPECT_EQ(in_child([] {
              {
                SignalQueue queue({SIGTERM});
                if (sigismember(&queue.mask_before(), SIGTERM) != 0) return 1;
              }
              raise(SIGTERM);
              return 2;
            }),
            128 + SIGTERM);
}

TEST(Signals, HaveNamesAndMeanings) {
  EXPECT_EQ(name_of(SIGTERM), "SIGTERM");
  EXPECT_EQ(name_of(SIGKILL), "SIGKILL");
  EXPECT_EQ(name_of(62), "signal 62");
  EXPECT_EQ(meaning_of(SIGSEGV), "segmentation fault");
  EXPECT_EQ(meaning_of(SIGWINCH), "");
}

}  // namespace
}  // namespace trireme::cluster::launch::host
