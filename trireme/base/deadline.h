// Deadline is a moment by which a wait must have ended. Every wait in Trireme takes one.
//
// A moment and not a duration, so that a call made of several waits passes it on unchanged and
// the sum cannot exceed what the caller said.
//
// Threads: a value; copies are independent. Reads the steady clock only.

#pragma once

#include <chrono>

#include "trireme/base/clock.h"

namespace trireme {

class Deadline {
 public:
  // `timeout` from now; negative counts as zero, and a sum past the clock's end means never.
  static Deadline after(Duration timeout);
  static Deadline at(TimePoint when) { return Deadline(when); }
  // For waits that something else ends, such as a person's Ctrl-C.
  static Deadline never() { return Deadline(TimePoint::max()); }

  TimePoint when() const noexcept { return when_; }
  bool is_never() const noexcept { return when_ == TimePoint::max(); }
  bool is_past() const { return !is_never() && steady_clock().now() >= when_; }

  // Zero once past.
  Duration remaining() const;

  // For poll(2) and epoll(7): rounded up to whole milliseconds, -1 for never.
  int poll_timeout() const;

  // The earlier of the two.
  friend Deadline min(Deadline a, Deadline b) { return a.when_ <= b.when_ ? a : b; }

 private:
  explicit Deadline(TimePoint when) : when_(when) {}

  TimePoint when_;
};

}  // namespace trireme
