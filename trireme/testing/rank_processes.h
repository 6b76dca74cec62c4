// RankProcesses runs the ranks of a test as real processes: it starts this test binary again for
// each rank, with a filter that selects the running test. The child reaches the same constructor,
// runs the body there and exits; only the parent continues the test.
//
//   RankProcesses ranks({.count = 3}, [](RankChannel& channel) {
//     channel.say("ready");
//     channel.hear();
//   });
//   EXPECT_EQ(ranks.hear(0, deadline), "ready");
//   ranks.kill(1, SIGKILL);
//
// No process forks without exec, so a body may use threads, sanitizers and LibTorch.
//
// Rules:         all RankProcesses of one test must have the same body, because a child runs the
//                first one it reaches; pass differences with say() or in the environment. A test
//                that creates files or servers before its ranks must call run_if_child() first, or
//                each child creates them too.
// Lifetime:      children die with the parent; the destructor kills and reaps the remaining ones.
// Errors:        Deadline and PeerLost (the child exited), with the rank.
// Thread safety: only the thread that created it.

#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::testing {

// A child's connection to its test.
class RankChannel {
 public:
  RankChannel(int rank, int count) : rank_(rank), count_(count) {}

  int rank() const noexcept { return rank_; }
  int count() const noexcept { return count_; }
  // May be called from any thread.
  void say(std::string_view line);
  // Returns the next line from the test; exits the process if the test has ended.
  std::string hear();

 private:
  int rank_;
  int count_;
  std::string pending_;
};

class RankProcesses {
 public:
  struct Options {
    int count = 1;
    std::map<std::string, std::string> environment{};  // added to the current environment
  };
  using Body = std::function<void(RankChannel&)>;

  // In a child: runs the body and exits the process. In the parent: does nothing.
  static void run_if_child(const Body& body);

  RankProcesses(const Options& options, const Body& body);
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  int count() const noexcept { return static_cast<int>(children_.size()); }
  pid_t pid(int rank) const;
  void say(int rank, std::string_view line);
  std::string hear(int rank, Deadline deadline);
  // Calls hear() for every rank that has not been waited for yet; returns one line per rank.
  std::vector<std::string> hear_all(Deadline deadline);
  void kill(int rank, int signal) const;
  // Returns the exit status as given by waitpid(2).
  int wait_exit(int rank, Deadline deadline);

 private:
  struct Child {
    pid_t pid = -1;  // -1 if reaped
    Descriptor to;
    Descriptor from;
    std::string pending;
  };

  void start(int rank, const Options& options);
  Child& child(int rank);

  std::vector<Child> children_;
};

}  // namespace trireme::testing
