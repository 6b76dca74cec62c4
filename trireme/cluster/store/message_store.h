// MessageStore is a Store whose watches are requests and replies, too. LocalStore and RemoteStore
// implement how these are transported, and hence behave alike; their exchange() fills in
// the slot.
//
// Thread safety: as Store; exchange() and tell() must support any number of concurrent callers.
// Lifetime:      its watches must not outlive it.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "trireme/cluster/store/store.h"

namespace trireme::cluster {

class MessageStore : public Store {
 public:
  std::unique_ptr<Watch> watch(std::string_view prefix, Deadline deadline) override;

 protected:
  // Sends a request without waiting for a reply; one that cannot be sent is dropped.
  virtual void tell(StoreRequest request) noexcept = 0;

 private:
  class MessageWatch;

  std::atomic<std::uint64_t> last_watch_{0};
};

}  // namespace trireme::cluster
