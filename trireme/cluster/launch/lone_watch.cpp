#include "trireme/cluster/launch/lone_watch.h"

namespace trireme::cluster::launch {

void LoneWatch::look_at(const membership::Epoch& epoch) {
  if (timeout_ <= Duration::zero()) return;
  const std::lock_guard lock(mutex_);
  lone_.reset();
  if (epoch.size() == 1) lone_ = Lone{.worker = epoch.seat(0).worker};
}

std::optional<int> LoneWatch::worker() const {
  const std::lock_guard lock(mutex_);
  return lone_ ? std::optional(lone_->worker) : std::nullopt;
}

bool LoneWatch::note_heartbeat(int worker, const std::optional<Bytes>& value, TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (!lone_ || lone_->worker != worker) return false;
  const bool is_new = value && lone_->value != value;
  if (is_new) lone_->value = value;
  const bool was_stopped = now - lone_->looked > timeout_ / 2;
  if (is_new || !lone_->value || was_stopped) lone_->heard = now;
  lone_->looked = now;
  if (now - lone_->heard <= timeout_) return false;
  lone_->heard = now;  // until it is killed, it is reported once per timeout
  return true;
}

}  // namespace trireme::cluster::launch
