// JobStore is the store of this process's job, wherever the environment says it is: it serves it
// where this rank is the one that serves, and connects to it everywhere else. In an elastic job it
// is a LastingStore, unless it lives in etcd.
//
// Failure: InvalidInput when something must be set, saying what; Unreachable, Unauthenticated or
//          Deadline when the store cannot be had.
// Lifetime: the serving rank's object ends the store for all; see World, which waits for others.

#pragma once

#include <memory>
#include <optional>

#include "trireme/base/deadline.h"
#include "trireme/base/log.h"
#include "trireme/cluster/environment.h"
#include "trireme/cluster/secret_file.h"
#include "trireme/cluster/store.h"
#include "trireme/net/server.h"

namespace trireme::cluster {

class JobStore {
 public:
  JobStore(const Environment& environment, const Lookup& lookup, const Log& log, Deadline deadline);

  Store& store() noexcept { return *store_; }
  // What this rank proves its membership with to others; null where nobody gave it a secret.
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
  std::unique_ptr<Store> store_;  // after the server: a client leaves first
};

}  // namespace trireme::cluster
