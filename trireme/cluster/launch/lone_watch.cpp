#include "trireme/cluster/launch/lone_watch.h"

namespace trireme::cluster::launch {
namespace {

constexpr int kBeats = 5;  // per timeout

}  // namespace

LoneWatch::LoneWatch(Duration timeout) {
  if (timeout <= Duration::zero()) return;
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
  life_.emplace(Life::Options{.heartbeat = {.interval = limit / kBeats, .timeout = limit},
                              .on_silent = [this](int worker, Duration) { life_->kill(worker); }});
}

void LoneWatch::look_at(const membership::Epoch& epoch) {
  if (!life_) return;
  const std::lock_guard lock(mutex_);
  if (watched_) life_->forget(*watched_);
  watched_.reset();
  if (epoch.size() != 1) return;
  const membership::Seat& seat = epoch.seat(0);
  if (life_->watch(seat.worker, seat.about.life, membership::kLauncherPlace)) {
    watched_ = seat.worker;
  }
}

}  // namespace trireme::cluster::launch
