// Goal:   HostState finds everything that a test leaves on the host, so that an empty result is
//         meaningful.
// Method: leave a daemon, a file in /dev/shm and a job folder on purpose.

#include "trireme/testing/host_state.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "trireme/testing/command_process.h"

namespace trireme::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Runs the body in a child process, because HostState changes the process that creates it.
template <class Body>
void in_child(const Body& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

// Leaves a process whose parent has exited, in its own session.
void leave_daemon() {
  CommandProcess parent(
      {.command = {"/bin/sh", "-c", "setsid sleep 100 & exit 0"}, .is_read = false});
  EXPECT_EQ(parent.wait_exit(Deadline::after(20s)), 0);
}

TEST(HostState, CleanIsClean) {
  in_child([] {
    const HostState state;
    EXPECT_THAT(state.leftovers(Deadline::after(0s)), IsEmpty());
  });
}

TEST(HostState, FindsADaemon) {
  in_child([] {
    const HostState state;
    leave_daemon();
    // The shell has exited and its child was reparented to this process, whichever program it runs
    // now.
    const std::vector<pid_t> found = state.processes();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(state.leftovers(Deadline::after(0s)), SizeIs(1));
    kill(found.front(), SIGKILL);
    EXPECT_THAT(state.leftovers(Deadline::after(10s)), IsEmpty());
  });
}

TEST(HostState, EndsWhatATestLeaves) {
  in_child([] {
    std::optional<HostState> state(std::in_place);
    leave_daemon();
    const pid_t daemon = state->processes().at(0);
    kill(daemon, SIGSTOP);
    CommandProcess running({.command = {"/bin/sh", "-c", "sleep 100; exit 0"}});
    if (state->has_private_shm()) std::ofstream("/dev/shm/left") << "x";
    state.reset();
    EXPECT_EQ(kill(daemon, 0), -1);
    EXPECT_EQ(kill(running.pid(), 0), -1);
    const HostState next;
    EXPECT_THAT(next.leftovers(Deadline::after(0s)), IsEmpty());
  });
}

TEST(HostState, FindsFilesAndFolders) {
  in_child([] {
    const HostState state;
    std::filesystem::create_directories(state.runtime() / "trireme" / "job");
    EXPECT_THAT(state.leftovers(Deadline::after(0s)), SizeIs(1));
    std::filesystem::remove(state.runtime() / "trireme" / "job");
    if (!state.has_private_shm()) return;
    std::ofstream("/dev/shm/left") << "x";
    EXPECT_THAT(state.leftovers(Deadline::after(0s)), SizeIs(1));
    std::filesystem::remove("/dev/shm/left");
    EXPECT_THAT(state.leftovers(Deadline::after(0s)), IsEmpty());
  });
}

}  // namespace
}  // namespace trireme::testing
