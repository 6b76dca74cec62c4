#include "trireme/cluster/store/store_session.h"

#include "trireme/base/check.h"

namespace trireme::cluster {

TimePoint StoreSession::retry_after(TimePoint now) const {
  return options_.retry >= TimePoint::max() - now ? TimePoint::max() : now + options_.retry;
}

bool StoreSession::begin(StoreRequest& request, TimePoint now) {
  if (free_.empty()) {
    if (slots_.size() >= options_.slots_max) return false;
    free_.insert(static_cast<std::uint16_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint16_t index = *free_.begin();
  free_.erase(free_.begin());
  Slot& slot = slots_[index];
  slot.is_busy = true;
  request.slot = index;
  request.sequence = ++slot.sequence;
  slot.due = retry_after(now);
  if (options_.retry != Duration::max()) slot.request = request;
  ++outstanding_;
  return true;
}

void StoreSession::abandon(std::uint16_t slot) {
  TRIREME_CHECK(slot < slots_.size() && slots_[slot].is_busy, "slot ", slot, " is not in use");
  slots_[slot].is_busy = false;
  slots_[slot].due = TimePoint::max();
  slots_[slot].request = {};
  free_.insert(slot);
  --outstanding_;
}

bool StoreSession::accept(const StoreReply& reply) {
  if (reply.slot >= slots_.size()) return false;
  const Slot& slot = slots_[reply.slot];
  if (!slot.is_busy || slot.sequence != reply.sequence) return false;
  abandon(reply.slot);
  return true;
}

std::vector<StoreRequest> StoreSession::due(TimePoint now) {
  std::vector<StoreRequest> again;
  for (Slot& slot : slots_) {
    if (!slot.is_busy || slot.due > now) continue;
    slot.due = retry_after(now);
    again.push_back(slot.request);
  }
  return again;
}

}  // namespace trireme::cluster
