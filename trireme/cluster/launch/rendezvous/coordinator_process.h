// CoordinatorProcess is the launcher's view of an elastic job's coordinator: the launcher starts it
// once, restarts it when it dies, or takes over the coordinator of a launcher that died.
//
// Bounds:        after kStartsMax starts within a minute, start() gives up and throws Exhausted
//                with the last error output of the coordinator.
// Errors:        Exhausted; what spawn() throws.
// Thread safety: only the launcher's thread.

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
    std::string listen{};  // for workers on other hosts; see job/coordinator.h
    // `trireme`: the running program itself, even if its file has been replaced meanwhile.
    std::filesystem::path program = "/proc/self/exe";
  };

  explicit CoordinatorProcess(Options options) : options_(std::move(options)) {}

  // Starts a coordinator, which ends any other one.
  void start();
  // Takes over the live coordinator, or starts one.
  void adopt();
  // Kills the coordinator and deletes its data; the next one starts with an empty store. The caller
  // is notified of its death and then starts the next one.
  void reset();
  // It is dead and was reaped.
  void forget() noexcept { pid_ = 0; }
  // Where it serves other hosts, as soon as it does. Throws Deadline.
  std::string address(Deadline deadline) const;
  // 0: none.
  pid_t pid() const noexcept { return pid_; }
  // See host::Process.
  unsigned long long start_time() const noexcept { return start_; }
  // Whether it is alive, or is a zombie that this process has not reaped yet.
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
