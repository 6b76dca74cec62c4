// ask(): one StoreRequest on any Store, for the state machines that say what they want to know as
// requests and are driven over real and simulated stores alike.
//
// Verbs:   Set, Get, Wait, Add, Swap, Erase and List; a watch is an object and not a question.
// Failure: what the Store throws.
// Threads: as the Store.

#pragma once

#include "trireme/base/deadline.h"
#include "trireme/cluster/store.h"
#include "trireme/cluster/store_message.h"

namespace trireme::cluster {

// Whether the store's patience is over: PeerLost is its answer to any call, and not to one alone.
bool is_gone(Store& store, Deadline deadline);

StoreReply ask(Store& store, const StoreRequest& request, Deadline deadline);

}  // namespace trireme::cluster
