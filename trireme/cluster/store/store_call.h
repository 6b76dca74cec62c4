// ask(): one StoreRequest on any Store, for state machines that express their queries as requests
// and run over both real and simulated stores.
//
// Verbs:         Set, Get, Wait, Add, Swap, Erase and List; watches are not supported.
// Errors:        what the Store throws.
// Thread safety: as the Store.

#pragma once

#include "trireme/base/deadline.h"
#include "trireme/cluster/store/store.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster {

// Whether the store has been gone for longer than its patience, so that any call fails with
// PeerLost.
bool is_gone(Store& store, Deadline deadline);

StoreReply ask(Store& store, const StoreRequest& request, Deadline deadline);

}  // namespace trireme::cluster
