// Deadline is the point in time by which a wait must end. Every wait in Trireme takes one.
//
// It is a point in time and not a duration: a call that consists of several waits passes the same
// deadline to each, so their total cannot exceed the caller's timeout.
//
// Thread safety: a value type; copies are independent. It reads only the steady clock.

#pragma once

#include <chrono>

#include "trireme/base/clock.h"

namespace trireme {

class Deadline {
 public:
  // `timeout` from now. A negative timeout counts as zero; an overflow of the clock means never.
  static Deadline after(Duration timeout);
  static Deadline at(TimePoint when) { return Deadline(when); }
  // For waits that are ended by something else, such as Ctrl-C.
  static Deadline never() { return Deadline(TimePoint::max()); }

  TimePoint when() const noexcept { return when_; }
  bool is_never() const noexcept { return when_ == TimePoint::max(); }
  bool is_past() const { return !is_never() && steady_clock().now() >= when_; }

  // Zero once the deadline has passed.
  Duration remaining() const;

  // The timeout for poll(2) and epoll(7): rounded up to whole milliseconds, -1 for never.
  int poll_timeout() const;

  // The earlier of the two.
  friend Deadline min(Deadline a, Deadline b) { return a.when_ <= b.when_ ? a : b; }

 private:
  explicit Deadline(TimePoint when) : when_(when) {}

  TimePoint when_;
};

}  // namespace trireme
