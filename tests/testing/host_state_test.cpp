// Goal:   whatever a test leaves on the host is found, so that "nothing is left" means something.
// Method: things left on purpose: a daemon, a file in /dev/shm, a job's folder.

#include "trireme/testing/host_state.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "trireme/testing/command_process.h"

namespace trireme::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A process of its own, since HostState changes the one that makes it.
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

TEST(HostState, CleanIsClean) {
  in_child([] {
    const HostState state;
    EXPECT_THAT(state.leftovers(Deadline::after(0s)), IsEmpty());
  });
}

TEST(HostState, FindsADaemon) {
  in_child([] {
    const HostState state;
    CommandProcess parent({.command = {"/bin/sh", "-c", "setsid sleep 100 & exit 0"}});
    parent.close_output();
    // The shell goes, and what it left becomes a sleep.
    std::vector<std::string> left;
    while (left.size() != 1 || left.front().find("sleep 100") == std::string::npos) {
      usleep(1000);
      left = state.leftovers(Deadline::after(0s));
    }
    // A process that becomes another has no environment for a moment, and is not known by it.
    std::vector<pid_t> found;
    while (found.empty()) found = state.processes();
    kill(found.front(), SIGKILL);
    EXPECT_THAT(state.leftovers(Deadline::after(10s)), IsEmpty());
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
