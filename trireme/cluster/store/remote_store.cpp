#include "trireme/cluster/store/remote_store.h"

#include "trireme/base/error.h"
#include "trireme/cluster/store/store_service.h"

namespace trireme::cluster {
namespace {

// How long sending a message without a reply may take before it is dropped.
constexpr auto kTellTimeout = std::chrono::seconds(1);

}  // namespace

RemoteStore::RemoteStore(const net::Client::Options& options, Deadline deadline)
    : client_(options, deadline) {}

class RemoteStore::Slot {
 public:
  Slot(RemoteStore& store, StoreRequest& request, Deadline deadline) : store_(store) {
    std::unique_lock lock(store_.mutex_);
    const bool has_slot = store_.slot_freed_.wait_until(
        lock, deadline.when(), [&] { return store_.slots_.assign(request); });
    if (!has_slot) throw Error(ErrorCode::Deadline, "too many calls of this store at once");
    slot_ = request.slot;
  }
  ~Slot() {
    const std::lock_guard lock(store_.mutex_);
    store_.slots_.release(slot_);
    store_.slot_freed_.notify_one();
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

 private:
  RemoteStore& store_;
  std::uint16_t slot_ = 0;
};

StoreReply RemoteStore::exchange(StoreRequest request, Deadline deadline) {
  const Slot slot(*this, request, deadline);
  return decode_store_reply(client_.call(kStoreMethod, encode(request), deadline));
}

void RemoteStore::tell(StoreRequest request) noexcept {
  try {
    const Deadline deadline = Deadline::after(kTellTimeout);
    const Slot slot(*this, request, deadline);
    client_.post(kStoreMethod, encode(request), deadline);
  } catch (const std::exception&) {
    // The connection is gone, or all slots are in use; the end of the session cleans up.
  }
}

}  // namespace trireme::cluster
