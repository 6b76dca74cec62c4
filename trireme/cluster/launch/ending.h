// Ending manages how a job is ended early: the reason and the exit code, which signals its ranks
// receive and when, and how long to wait for their last output.
//
// A launcher has one Ending, reports events to it, and sends the signals that it requests.
//
// Thread safety: one thread.
// Lifetime:      the writer must outlive it.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/cluster/launch/escalation.h"
#include "trireme/cluster/launch/output/writer.h"

namespace trireme::cluster::launch {

class Ending {
 public:
  // The last output is complete once nothing has arrived for this time.
  static constexpr Duration kQuietTime = std::chrono::milliseconds(300);

  struct Options {
    Duration grace{};
    // How long the job continues without the process that the user started; nullopt: it does not.
    std::optional<Duration> orphan_timeout{};
    output::Writer* writer = nullptr;
    std::function<void(const std::string& why)> announce;  // to all clients that watch the job
    std::function<void(int signal)> send;                  // to all ranks
  };
  explicit Ending(Options options) : options_(std::move(options)), escalation_(options_.grace) {}

  void say(const std::string& text) const;

  // The job cannot continue: announces the reason and asks the ranks to end.
  void begin(const std::string& why, std::optional<int> code = std::nullopt);
  bool has_begun() const noexcept { return escalation_.is_ending(); }

  // A signal that ends the job was received, from a terminal or from another process.
  void on_signal(int signal);
  // A user ran `trireme stop`.
  void on_stop(int signal);
  // The reader of this process's output is gone, as after `| head`, or the disk is full.
  void on_output_lost();
  // The process that the user started is gone. A job that cannot continue without it is abandoned;
  // no signal is sent, because the caller kills the ranks. Any other job is asked to end after the
  // orphan timeout.
  void on_front_lost();
  // The job could not be started.
  void on_error(const Error& error);

  Deadline next() const { return min(escalation_.next(), unwatched_until_); }
  // Call it when next() has passed.
  void on_time();

  // The process that the user started is gone; the job was abandoned because of that.
  bool is_alone() const noexcept { return is_alone_; }
  bool is_abandoned() const noexcept { return is_abandoned_; }
  // The end was requested, so no rank is to blame for its own end.
  bool is_told() const noexcept { return is_told_ || is_abandoned_; }
  // The end was requested again, since the last call of last_words() if there was one.
  bool is_hurried() const noexcept { return is_hurried_; }
  // Until when to wait for the last output. Like any program, the launcher waits for the reader of
  // its output, but not after it was told to end.
  Deadline last_words();

  // The first code that was set counts.
  void set_code(int code) { code_ = code_.value_or(code); }
  std::optional<int> code() const noexcept { return code_; }

 private:
  void tell(int signal, const std::string& words, const std::string& why);
  void ask(int signal);
  void abandon();

  Options options_;
  Escalation escalation_;
  std::optional<int> code_;
  Deadline unwatched_until_ = Deadline::never();
  bool is_alone_ = false;
  bool is_abandoned_ = false;
  bool is_output_lost_ = false;
  bool is_told_ = false;  // by a request from outside
  bool is_hurried_ = false;
};

}  // namespace trireme::cluster::launch
