// Store is a small, strongly ordered map from text to bytes through which the ranks of a job find
// and wait for each other. It is for coordination, not for data: values are at most 16 MiB.
//
// Implementations: LocalStore (one process), RemoteStore (a StoreService behind net::Server),
// etcd::EtcdStore (an existing etcd cluster). They behave alike; one test suite runs on all.
//
// Order:         all changes of a store are totally ordered, and every reader sees them in that
//                order. Each change has a revision that is larger than all earlier revisions.
// Lifetime:      a key set with Lifetime::Session disappears when the Store object that set it is
//                destroyed or its process dies.
// Errors:        Deadline when the time is up; PeerLost when the server is gone. A call that failed
//                with Deadline may or may not have been applied. No call is applied twice, except
//                as reconnecting_store.h says. Every error names the operation and the key.
// Thread safety: any thread may call.
//
// Implementers:  exchange() makes one request, and watch() opens a watch. State machines whose
//                queries are requests use ask() directly.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/deadline.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster {

struct StoreChange {
  std::string key;
  std::optional<Bytes> value;  // nullopt: the key was erased
  std::uint64_t revision = 0;
};

struct SwapResult {
  bool swapped = false;
  std::optional<Bytes> current;  // the value after the call
};

// A sequence of the changes under a prefix, oldest first; no change is missed.
class Watch {
 public:
  virtual ~Watch() = default;
  // Throws Deadline if no change came in time.
  virtual StoreChange next(Deadline deadline) = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  void set(std::string_view key, ByteView value, Deadline deadline,
           Lifetime lifetime = Lifetime::Job);
  std::optional<Bytes> get(std::string_view key, Deadline deadline);
  // Returns the value as soon as the key exists.
  Bytes wait(std::string_view key, Deadline deadline);
  // Adds to a decimal number (an absent key counts as 0) and returns the sum. Throws Mismatch if
  // the value is not a number.
  std::int64_t add(std::string_view key, std::int64_t delta, Deadline deadline);
  // Replaces `expected` (nullopt: the key must be absent) with `desired` (nullopt: erase).
  SwapResult compare_and_set(std::string_view key, std::optional<ByteView> expected,
                             std::optional<ByteView> desired, Deadline deadline,
                             Lifetime lifetime = Lifetime::Job);
  // Returns false if the key did not exist.
  bool erase(std::string_view key, Deadline deadline);
  // All keys with this prefix, sorted, with the revision of each one's last change.
  std::vector<StoreChange> list(std::string_view prefix, Deadline deadline);
  // First reports the existing keys, as changes, then every change that follows.
  virtual std::unique_ptr<Watch> watch(std::string_view prefix, Deadline deadline) = 0;

  // Any of the requests above except watch(). Throws refusals.
  StoreReply ask(StoreRequest request, Deadline deadline);

 protected:
  // Throws Deadline or PeerLost; a refusal is a reply with an error, or is thrown.
  virtual StoreReply exchange(StoreRequest request, Deadline deadline) = 0;
};

// Whether the store has been gone for longer than its patience, so that any call fails with
// PeerLost.
bool is_gone(Store& store, Deadline deadline);

}  // namespace trireme::cluster
