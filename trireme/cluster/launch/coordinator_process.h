// CoordinatorProcess is an elastic job's coordinator as its launcher sees it: started once, started
// again when it dies, or taken over from a launcher that died.
//
// Bounds:  after kStartsMax starts within a minute it is given up: start() throws Exhausted with
//          what the last one said.
// Threads: one, the launcher's.
// Failure: Exhausted; what spawn() throws.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <string>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"

namespace trireme::cluster::launch {

class CoordinatorProcess {
 public:
  static constexpr std::size_t kStartsMax = 20;

  struct Options {
    std::filesystem::path folder;  // the job's
    Duration orphan_timeout{};
    sigset_t mask{};
    std::string listen{};  // for other hosts; see job/coordinator.h
    // `trireme`: this very program, even if another was installed in its place meanwhile.
    std::filesystem::path program = "/proc/self/exe";
  };

  explicit CoordinatorProcess(Options options) : options_(std::move(options)) {}

  // Starts one, which ends any other.
  void start();
  // Takes over the one that lives, or starts one.
  void adopt();
  // Ends it and forgets all that it knew; the next one begins with an empty store. The caller
  // hears of its death and then starts the next.
  void reset();
  // It is dead and was waited for.
  void forget() noexcept { pid_ = 0; }
  // Where it serves other hosts, once it does. Throws Deadline.
  std::string address(Deadline deadline) const;
  // 0: none.
  pid_t pid() const noexcept { return pid_; }
  // See host::Process.
  unsigned long long start_time() const noexcept { return start_; }
  // Whether it lives, or waits for us to hear of its end.
  bool is_there() const;

 private:
  void note_start();
  std::string last_words() const;

  Options options_;
  pid_t pid_ = 0;
  unsigned long long start_ = 0;
  std::deque<TimePoint> starts_;
};

}  // namespace trireme::cluster::launch
