#include "trireme/cluster/launch/escalation.h"

#include <signal.h>

#include <algorithm>

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

// SIGINT already had its grace period; SIGTERM is for programs that handle only SIGTERM.
constexpr Duration kTermTime = 1s;

}  // namespace

bool Escalation::is_killing() const noexcept {
  return sent_ == SIGKILL;
}

int Escalation::send(int signal, TimePoint now) {
  const bool is_second = sent_ == SIGINT;
  const Duration time = is_second ? std::min(grace_, kTermTime) : grace_;
  sent_ = signal;
  const bool is_last = signal == SIGKILL;
  next_ = is_last || time > TimePoint::max() - now ? TimePoint::max() : now + time;
  return signal;
}

std::optional<int> Escalation::ask(int signal, TimePoint now) {
  if (is_killing() || is_echo(signal, now)) return std::nullopt;
  asked_ = signal;
  asked_at_ = now;
  if (!is_ending()) return send(signal, now);
  if (signal == SIGINT || signal == SIGKILL) return send(SIGKILL, now);
  // SIGTERM after Ctrl-C is an escalation; SIGHUP after SIGTERM is not.
  if (sent_ == SIGINT) return send(signal, now);
  return std::nullopt;
}

std::optional<int> Escalation::tick(TimePoint now) {
  if (now < next_) return std::nullopt;
  return send(sent_ == SIGINT ? SIGTERM : SIGKILL, now);
}

}  // namespace trireme::cluster::launch
