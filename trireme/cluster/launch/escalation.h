// Escalation decides which signal the ranks receive when a job has to end: first the requested one,
// and after the grace period one that cannot be ignored. A pure state machine; the caller passes
// the time.
//
// Steps:         SIGINT -> (grace) -> SIGTERM -> (grace, at most a second) -> SIGKILL; any other
//                signal -> (grace) -> SIGKILL.
// Hurry:         a Ctrl-C while the job is already ending means SIGKILL at once.
// Echo:          the same signal again within kEchoTime is the first one received twice (timeout(1)
//                and others signal a process and then its group); no user types that fast.
// Thread safety: one thread.

#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"

namespace trireme::cluster::launch {

class Escalation {
 public:
  static constexpr Duration kEchoTime = std::chrono::milliseconds(200);

  explicit Escalation(Duration grace) : grace_(grace) {}

  // Whether this signal is an echo of one that was requested; requests nothing.
  bool is_echo(int signal, TimePoint now) const noexcept {
    return signal != SIGKILL && signal == asked_ && now - asked_at_ < kEchoTime;
  }
  // Requests the end of the job. Returns the signal to send to all ranks now, if any.
  std::optional<int> ask(int signal, TimePoint now);
  // Call it when next() has passed. Returns the signal to send to all ranks now, if any.
  std::optional<int> tick(TimePoint now);

  Deadline next() const { return Deadline::at(next_); }
  bool is_ending() const noexcept { return sent_ != 0; }
  bool is_killing() const noexcept;
  // The last signal that ask() or tick() returned; 0: none.
  int sent() const noexcept { return sent_; }

 private:
  int send(int signal, TimePoint now);

  Duration grace_;
  int sent_ = 0;
  int asked_ = 0;
  TimePoint asked_at_{};
  TimePoint next_ = TimePoint::max();
};

}  // namespace trireme::cluster::launch
