#include "trireme/cluster/launch/lone_watch.h"

namespace trireme::cluster::launch {

LoneWatch::LoneWatch(Duration timeout) : timeout_(timeout) {
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
  far_.reset();
  if (epoch.size() != 1) return;
  const membership::Seat& seat = epoch.seat(0);
  if (life_->watch(seat.worker, seat.about.life, membership::kLauncherPlace)) {
    watched_ = seat.worker;
  } else {
    far_ = Far{.worker = seat.worker};
  }
}

std::optional<int> LoneWatch::far() const {
  const std::lock_guard lock(mutex_);
  return far_ ? std::optional(far_->worker) : std::nullopt;
}

bool LoneWatch::note_heartbeat(int worker, const std::optional<Bytes>& value, TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (!far_ || far_->worker != worker) return false;
  const bool is_new = value && far_->value != value;
  if (is_new) far_->value = value;
  const bool was_stopped = now - far_->looked > timeout_ / 2;
  if (is_new || !far_->value || was_stopped) far_->heard = now;
  far_->looked = now;
  if (now - far_->heard <= timeout_) return false;
  far_->heard = now;  // until it is killed, it is reported once per timeout
  return true;
}

}  // namespace trireme::cluster::launch
