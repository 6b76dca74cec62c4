#include "trireme/cluster/launch/elastic/lone_watch.h"

#include "trireme/cluster/membership/records.h"

namespace trireme::cluster::launch {

void LoneWatch::set_members(const std::set<int>& workers) {
  if (timeout_ <= Duration::zero()) return;
  const std::lock_guard lock(mutex_);
  const bool is_same = lone_ && workers == std::set<int>{lone_->worker};
  if (is_same) return;
  lone_.reset();
  if (workers.size() == 1) lone_ = Lone{.worker = *workers.begin()};
}

void LoneWatch::set_paused(bool is_paused) {
  const std::lock_guard lock(mutex_);
  is_paused_ = is_paused;
}

std::optional<int> LoneWatch::worker() const {
  const std::lock_guard lock(mutex_);
  return lone_ && !is_paused_ ? std::optional(lone_->worker) : std::nullopt;
}

bool LoneWatch::note_heartbeat(int worker, const std::optional<Bytes>& value, TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (!lone_ || lone_->worker != worker || is_paused_) return false;
  const bool is_new = value && lone_->value != value;
  // The first value may be left over from an earlier epoch in which the worker was alone.
  if (is_new && lone_->value) lone_->has_beaten = true;
  if (is_new) lone_->value = value;
  const bool is_leaving = value && text_of(*value) == membership::kWellEnd;
  const bool was_stopped = now - lone_->looked > timeout_ / 2;
  if (is_new || was_stopped) lone_->heard = now;
  lone_->looked = now;
  const int timeouts = is_leaving ? kEnd : lone_->has_beaten ? 1 : kFirst;
  if (now - lone_->heard <= timeouts * timeout_) return false;
  lone_->heard = now;  // until it is killed, it is reported once per limit
  return true;
}

}  // namespace trireme::cluster::launch
