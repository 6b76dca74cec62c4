// Ending is how a job comes to its end before it has ended by itself: why and with which exit code,
// which signals its ranks get and when, and how long anybody waits for its last words.
//
// A launcher has one, tells it what happens, and sends what it says.
//
// Threads:  one.
// Lifetime: the writer must outlive it.

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
  // How long nothing may come before last words are over.
  static constexpr Duration kQuietTime = std::chrono::milliseconds(300);

  struct Options {
    Duration grace{};
    // How long the job goes on without the process that the user started; none: not at all.
    std::optional<Duration> orphan_timeout{};
    output::Writer* writer = nullptr;
    std::function<void(const std::string& why)> announce;  // to whoever watches the job
    std::function<void(int signal)> send;                  // to all ranks
  };
  explicit Ending(Options options) : options_(std::move(options)), escalation_(options_.grace) {}

  void say(const std::string& text) const;

  // The job cannot go on: announced, and the ranks are asked to end.
  void begin(const std::string& why, std::optional<int> code = std::nullopt);
  bool has_begun() const noexcept { return escalation_.is_ending(); }

  // A signal that ends jobs came, from a terminal or from anybody.
  void on_signal(int signal);
  // Somebody typed `trireme stop`.
  void on_stop(int signal);
  // Nobody reads us any more, as after `| head`, or the disk is full.
  void on_output_lost();
  // The process that the user started is gone. A job that cannot go on without it is abandoned,
  // and nothing is sent: that is for whoever kills. Any other is asked to end when its time is up.
  void on_front_lost();
  // It did not come to run.
  void on_error(const Error& error);

  Deadline next() const { return min(escalation_.next(), orphaned_until_); }
  // To be called when next() is past.
  void on_time();

  // The process that the user started is gone; and then: so the job is over.
  bool is_alone() const noexcept { return is_alone_; }
  bool is_abandoned() const noexcept { return is_abandoned_; }
  // Somebody wanted the end: no rank is to blame for its own.
  bool is_told() const noexcept { return is_told_ || is_abandoned_; }
  // Somebody who told the job to end told it again, since last_words() where that was called.
  bool is_hurried() const noexcept { return is_hurried_; }
  // Until when last words are waited for: any program waits for whoever reads it, but not once it
  // was told to end.
  Deadline last_words();

  // The first that was given counts.
  void set_code(int code) { code_ = code_.value_or(code); }
  std::optional<int> code() const noexcept { return code_; }

 private:
  void tell(int signal, const std::string& words, const std::string& why);
  void ask(int signal);
  void abandon();

  Options options_;
  Escalation escalation_;
  std::optional<int> code_;
  Deadline orphaned_until_ = Deadline::never();
  bool is_alone_ = false;
  bool is_abandoned_ = false;
  bool is_output_lost_ = false;
  bool is_told_ = false;  // from outside
  bool is_hurried_ = false;
};

}  // namespace trireme::cluster::launch
