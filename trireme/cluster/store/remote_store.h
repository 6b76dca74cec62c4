// RemoteStore is a Store behind a net::Server, reached over one authenticated connection. The
// connection is the session: when it ends, the session-bound keys are erased.
//
// Errors: PeerLost, from every call, once the connection is lost; create a new RemoteStore then.
// Bounds: at most 256 concurrent calls; a further call waits for a free slot until its deadline.

#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "trireme/cluster/store/message_store.h"
#include "trireme/cluster/store/store_slots.h"
#include "trireme/net/client.h"

namespace trireme::cluster {

class RemoteStore final : public MessageStore {
 public:
  // Connects; retries while no server is listening yet, until the deadline.
  RemoteStore(const net::Client::Options& options, Deadline deadline);

  // The numeric address from which this host reaches the server; other hosts can reach this host
  // there.
  std::string local_host() const { return client_.local_host(); }
  bool is_open() const noexcept { return client_.is_open(); }

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override;
  void tell(StoreRequest request) noexcept override;

 private:
  // A request's slot, while the object exists.
  class Slot;

  net::Client client_;
  std::mutex mutex_;
  std::condition_variable slot_freed_;
  StoreSlots slots_;  // guarded by mutex_
};

}  // namespace trireme::cluster
