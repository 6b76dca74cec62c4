// RankProcesses runs a test's ranks as real processes: it starts this test binary again, once a
// rank, with a filter that selects the running test. The child comes to the same constructor,
// runs the body there and ends; the test itself goes on in the parent only.
//
//   RankProcesses ranks({.count = 3}, [](RankChannel& channel) {
//     channel.say("ready");
//     channel.hear();
//   });
//   EXPECT_EQ(ranks.hear(0, deadline), "ready");
//   ranks.kill(1, SIGKILL);
//
// Nothing forks without exec, so a body may use threads, sanitizers and LibTorch.
//
// Rules:   all RankProcesses of one test have the same body, since a child runs the first it
//          meets; what differs comes by say() or in the environment. A test that makes files or
//          servers before its ranks calls run_if_child() first, or each child makes them too.
// Death:   children die with the parent, and the destructor kills and reaps those that are left.
// Failure: Deadline and PeerLost (the child ended) name the rank.
// Threads: one thread at a time, the one that made it.

#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/descriptor.h"

namespace trireme::testing {

// A child's line to its test.
class RankChannel {
 public:
  RankChannel(int rank, int count) : rank_(rank), count_(count) {}

  int rank() const noexcept { return rank_; }
  int count() const noexcept { return count_; }
  // From any thread.
  void say(std::string_view line);
  // The next line from the test; ends the process when the test is gone.
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
    std::map<std::string, std::string> environment{};  // on top of our own
  };
  using Body = std::function<void(RankChannel&)>;

  // In a child: runs the body and ends the process. Elsewhere: nothing.
  static void run_if_child(const Body& body);

  RankProcesses(const Options& options, const Body& body);
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  int count() const noexcept { return static_cast<int>(children_.size()); }
  pid_t pid(int rank) const;
  void say(int rank, std::string_view line);
  std::string hear(int rank, Deadline deadline);
  // The same from every rank that was not waited for yet; returns what each said.
  std::vector<std::string> hear_all(Deadline deadline);
  void kill(int rank, int signal) const;
  // The exit status as waitpid(2) gives it.
  int wait_exit(int rank, Deadline deadline);

 private:
  struct Child {
    pid_t pid = -1;  // -1: reaped
    Descriptor to;
    Descriptor from;
    std::string pending;
  };

  void start(int rank, const Options& options);
  Child& child(int rank);

  std::vector<Child> children_;
};

}  // namespace trireme::testing
