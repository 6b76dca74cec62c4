// EventDescriptor wakes a thread that waits in poll(2): readable from set() until clear().
//
// Errors:        the constructor throws Error if the process has no descriptor left.
// Thread safety: any thread may call.

#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"

namespace trireme {

class EventDescriptor {
 public:
  EventDescriptor() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!event_) throw system_error("cannot make an eventfd", errno);
  }

  int get() const noexcept { return event_.get(); }
  void set() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t size = ::write(event_.get(), &one, sizeof(one));
  }
  void clear() const noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t size = ::read(event_.get(), &count, sizeof(count));
  }

 private:
  Descriptor event_;
};

}  // namespace trireme
