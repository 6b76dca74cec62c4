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

StoreReply RemoteStore::exchange(StoreRequest request, Deadline deadline) {
  begin(request, deadline);
  StoreReply reply;
  try {
    reply = decode_store_reply(client_.call(kStoreMethod, encode(request), deadline));
  } catch (...) {
    abandon(request.slot);
    throw;
  }
  const std::lock_guard lock(mutex_);
  if (!session_.accept(reply)) {
    session_.abandon(request.slot);
    throw Error(ErrorCode::Protocol, "the store answered another request");
  }
  slot_freed_.notify_one();
  return reply;
}

void RemoteStore::tell(StoreRequest request) noexcept {
  try {
    const Deadline deadline = Deadline::after(kTellTimeout);
    begin(request, deadline);
    try {
      client_.post(kStoreMethod, encode(request), deadline);
    } catch (const Error&) {
      // The connection is gone, and with it the session that the message was about.
    }
    abandon(request.slot);
  } catch (const std::exception&) {
    // All slots are in use; the end of the session cleans up.
  }
}

void RemoteStore::begin(StoreRequest& request, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const bool has_slot = slot_freed_.wait_until(
      lock, deadline.when(), [&] { return session_.begin(request, TimePoint{}); });
  if (!has_slot) throw Error(ErrorCode::Deadline, "too many calls of this store at once");
}

void RemoteStore::abandon(std::uint16_t slot) {
  const std::lock_guard lock(mutex_);
  session_.abandon(slot);
  slot_freed_.notify_one();
}

}  // namespace trireme::cluster
