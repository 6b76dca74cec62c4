// SignalQueue turns signals into something to poll: they are blocked and read from a descriptor,
// so that no handler ever runs.
//
// Meaning:  a signal that was ignored when we started stays ignored (nohup, a shell's background
//           job): it is neither taken nor forwarded. SIGCHLD is always taken.
// Threads:  make it before any other thread, which then inherits the mask.
// Lifetime: the destructor gives the old mask back.

#pragma once

#include <signal.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace trireme::cluster::launch::host {

class SignalQueue {
 public:
  // Throws Io.
  explicit SignalQueue(std::initializer_list<int> signals);
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  // Readable while a signal waits.
  int descriptor() const noexcept { return descriptor_; }
  // The next signal's number; nothing when none waits.
  std::optional<int> next();
  // The mask before us, which programs that we start should have again.
  const sigset_t& mask_before() const noexcept { return before_; }

 private:
  int descriptor_ = -1;
  sigset_t before_;
};

// "segmentation fault"; empty for a signal without a well-known meaning.
std::string_view meaning_of(int signal) noexcept;
// "SIGTERM", or "signal 42".
std::string name_of(int signal);

}  // namespace trireme::cluster::launch::host
