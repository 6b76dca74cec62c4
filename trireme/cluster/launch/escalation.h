// Escalation decides which signal the ranks get when a job has to end: first what was asked,
// then, when time is up, what cannot be refused. A pure state machine; the clock is an argument.
//
// Steps:   SIGINT -> (grace) -> SIGTERM -> (grace, at most a second) -> SIGKILL;
//          any other signal -> (grace) -> SIGKILL.
// Hurry:   a Ctrl-C while the job is already ending means SIGKILL at once.
// Echo:    the same signal again within kEchoTime is the first one heard twice (timeout(1) and
//          others signal a process and then its group); nobody types that fast.
// Threads: one.

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

  // Whether this signal is an echo of one that was asked for; asks nothing.
  bool is_echo(int signal, TimePoint now) const noexcept {
    return signal != SIGKILL && signal == asked_ && now - asked_at_ < kEchoTime;
  }
  // Somebody wants the job to end. Returns the signal to send to all ranks now, if any.
  std::optional<int> ask(int signal, TimePoint now);
  // To be called when next() is past. Returns the signal to send to all ranks now, if any.
  std::optional<int> tick(TimePoint now);

  Deadline next() const { return Deadline::at(next_); }
  bool is_ending() const noexcept { return sent_ != 0; }
  bool is_killing() const noexcept;
  // The last signal that was to be sent; 0: none.
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
