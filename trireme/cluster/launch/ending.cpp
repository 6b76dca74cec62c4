#include "trireme/cluster/launch/ending.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/exit_status.h"
#include "trireme/cluster/launch/host/signals.h"
#include "trireme/cluster/launch/rank/report.h"

namespace trireme::cluster::launch {

void Ending::say(const std::string& text) const {
  options_.writer->push(STDERR_FILENO, "trireme: " + text + "\n");
}

void Ending::ask(int signal) {
  if (const auto now = escalation_.ask(signal, steady_clock().now())) options_.send(*now);
}

void Ending::begin(const std::string& why, std::optional<int> code) {
  if (code) set_code(*code);
  options_.announce(why);
  ask(SIGTERM);
}

void Ending::tell(int signal, const std::string& words, const std::string& why) {
  is_told_ = true;
  if (!has_begun()) {
    set_code(128 + signal);
    say(words);
    options_.announce(why);
  }
  ask(signal);
}

void Ending::on_signal(int signal) {
  if (escalation_.is_echo(signal, steady_clock().now())) return;
  is_hurried_ = is_told_;
  const std::string grace = plain_number(std::chrono::duration<double>(options_.grace).count());
  tell(signal,
       signal == SIGINT ? "interrupted: ranks have " + grace + " s to end; Ctrl-C again kills them"
                        : host::name_of(signal) + ": ending the job",
       host::name_of(signal));
}

void Ending::on_stop(int signal) {
  if (signal == SIGKILL) is_hurried_ = true;
  tell(signal, "stopped by `trireme stop`", "stop");
}

void Ending::on_output_lost() {
  if (std::exchange(is_output_lost_, true)) return;
  const int error = options_.writer->error();
  const std::string why = std::string("the output cannot be written: ") + std::strerror(error);
  if (error != EPIPE) say(why);
  begin(why, error == EPIPE ? 128 + SIGPIPE : kExitFailure);
}

void Ending::on_front_lost() {
  if (std::exchange(is_alone_, true)) return;
  if (!options_.orphan_timeout) return abandon();
  if (has_begun()) return;
  unwatched_until_ = Deadline::after(*options_.orphan_timeout);
  say("the process that was started as `trireme run` was killed; the job continues for " +
      plain_number(std::chrono::duration<double>(*options_.orphan_timeout).count()) +
      " s and then ends; `trireme stop` ends it now");
}

void Ending::abandon() {
  is_abandoned_ = true;
  code_ = 128 + SIGKILL;
  say("the process that was started as `trireme run` was killed; ending the job");
  // The ranks end because of that, so none of them is to blame.
  if (!has_begun()) options_.announce("`trireme run` was killed");
  escalation_.ask(SIGKILL, steady_clock().now());
}

void Ending::on_error(const Error& error) {
  say(std::string("the job could not be started: ") + error.what());
  code_ = kExitFailure;
}

void Ending::on_time() {
  if (unwatched_until_.is_past()) {
    unwatched_until_ = Deadline::never();
    if (!has_begun()) {
      tell(SIGTERM, "no process watches the job any more: ending it", "`trireme run` was killed");
    }
  }
  if (const auto signal = escalation_.tick(steady_clock().now())) options_.send(*signal);
}

Deadline Ending::last_words() {
  const bool was_hurried = std::exchange(is_hurried_, false);
  if (is_abandoned_ || was_hurried) return Deadline::after(kQuietTime);
  return is_told_ ? Deadline::after(options_.grace) : Deadline::never();
}

}  // namespace trireme::cluster::launch
