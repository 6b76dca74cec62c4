// StoreSlots assigns a free slot of a session to each request, so that a session has a bounded
// number of requests in flight.
//
// Thread safety: one thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "trireme/base/check.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster {

class StoreSlots {
 public:
  static constexpr std::size_t kSlotsMax = 256;

  // False if every slot is in use.
  bool assign(StoreRequest& request) {
    if (free_.empty() && count_ == kSlotsMax) return false;
    request.slot =
        free_.empty() ? static_cast<std::uint16_t>(count_++) : free_.extract(free_.begin()).value();
    return true;
  }
  // The caller has the reply or no longer wants it.
  void release(std::uint16_t slot) {
    TRIREME_CHECK(slot < count_ && free_.insert(slot).second, "slot ", slot, " is not in use");
  }

 private:
  std::set<std::uint16_t> free_;
  std::size_t count_ = 0;
};

}  // namespace trireme::cluster
