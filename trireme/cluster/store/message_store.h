// MessageStore is a Store whose every call is a request and a reply. LocalStore, RemoteStore and
// FolderStore implement how these are transported, and hence behave alike.
//
// Thread safety: as Store; exchange() and tell() must support any number of concurrent callers.
// Lifetime:      its watches must not outlive it.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "trireme/cluster/store/store.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster {

class MessageStore : public Store {
 public:
  void set(std::string_view key, ByteView value, Deadline deadline,
           Lifetime lifetime = Lifetime::Job) override;
  std::optional<Bytes> get(std::string_view key, Deadline deadline) override;
  Bytes wait(std::string_view key, Deadline deadline) override;
  std::int64_t add(std::string_view key, std::int64_t delta, Deadline deadline) override;
  SwapResult compare_and_set(std::string_view key, std::optional<ByteView> expected,
                             std::optional<ByteView> desired, Deadline deadline,
                             Lifetime lifetime = Lifetime::Job) override;
  bool erase(std::string_view key, Deadline deadline) override;
  std::vector<StoreChange> list(std::string_view prefix, Deadline deadline) override;
  std::unique_ptr<Watch> watch(std::string_view prefix, Deadline deadline) override;

 protected:
  // Fills in slot and sequence, sends the request, and returns its reply. Throws Deadline or
  // PeerLost; a refusal is a reply with an error.
  virtual StoreReply exchange(StoreRequest request, Deadline deadline) = 0;
  // The same, without waiting for a reply; a request that cannot be sent is dropped.
  virtual void tell(StoreRequest request) noexcept = 0;

 private:
  class MessageWatch;

  std::atomic<std::uint64_t> last_watch_{0};

  // Calls exchange() and throws refusals; every error names the operation and the key.
  StoreReply ask(StoreRequest request, Deadline deadline);
};

}  // namespace trireme::cluster
