// RemoteStore is a Store that lives behind a net::Server, reached over one authenticated
// connection. The connection is the session: when it ends, so do the session-bound keys.
//
// Failure: PeerLost, from every call, once the connection is gone; make a new RemoteStore.
// Bounds:  at most 256 calls at once; one more waits for its turn within its deadline.

#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "trireme/cluster/message_store.h"
#include "trireme/cluster/store_session.h"
#include "trireme/net/client.h"

namespace trireme::cluster {

class RemoteStore final : public MessageStore {
 public:
  // Connects; keeps trying while nobody listens yet, until the deadline.
  RemoteStore(const net::Client::Options& options, Deadline deadline);

  // The numeric address by which this host reaches the server; other hosts reach us there.
  std::string local_host() const { return client_.local_host(); }
  bool is_open() const noexcept { return client_.is_open(); }

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override;
  void tell(StoreRequest request) noexcept override;

 private:
  void begin(StoreRequest& request, Deadline deadline);
  void abandon(std::uint16_t slot);

  net::Client client_;
  std::mutex mutex_;
  std::condition_variable slot_freed_;
  StoreSession session_;  // guarded by mutex_
};

}  // namespace trireme::cluster
