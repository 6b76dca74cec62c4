// JobStore is the store of this process's job, at the location that the environment specifies. It
// serves the store on the rank that serves and connects to it on all other ranks. In an elastic job
// it is a ReconnectingStore, unless it is in etcd.
//
// Errors:   InvalidInput when a variable must be set, with its name; Unreachable, Unauthenticated
//           or Deadline when the store is not available.
// Lifetime: when the serving rank destroys its object, the store ends for all ranks; see World,
//           which waits for the other ranks.

#pragma once

#include <memory>
#include <optional>

#include "trireme/base/deadline.h"
#include "trireme/base/log.h"
#include "trireme/cluster/environment.h"
#include "trireme/cluster/store/secret_file.h"
#include "trireme/cluster/store/store.h"
#include "trireme/net/server.h"

namespace trireme::cluster {

class JobStore {
 public:
  JobStore(const Environment& environment, const Lookup& lookup, const Log& log, Deadline deadline);

  Store& store() noexcept { return *store_; }
  // The credentials with which this rank proves its membership to other ranks; null if no secret
  // was set.
  const std::shared_ptr<const net::Credentials>& credentials() const noexcept {
    return credentials_;
  }
  bool is_served_here() const noexcept { return server_ != nullptr; }

 private:
  void take_secret(const Environment& environment, const Lookup& lookup);
  void serve(const Environment& environment, const net::Secret& secret, const Log& log);
  void connect(const Environment& environment, const net::Secret& secret, Deadline deadline);

  std::optional<SecretFile> secret_file_;
  std::shared_ptr<const net::Credentials> credentials_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<Store> store_;  // after the server: the client disconnects first
};

}  // namespace trireme::cluster
