// SignalQueue makes signals pollable: they are blocked and read from a descriptor, so that no
// signal handler runs.
//
// Ignored:       a signal that was ignored when this process started stays ignored (nohup, a
//                shell's background job): it is neither received nor forwarded. SIGCHLD is always
//                received.
// Thread safety: construct it before any other thread, which then inherits the mask.
// Lifetime:      the destructor restores the old mask.

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

  // Readable while a signal is pending.
  int descriptor() const noexcept { return descriptor_; }
  // The next signal's number; nullopt if none is pending.
  std::optional<int> next();
  // The previous mask, which started programs should have again.
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
