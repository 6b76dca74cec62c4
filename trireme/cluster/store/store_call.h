// ask(): one StoreRequest on any Store, for state machines that express their queries as requests
// and run over both real and simulated stores.
//
// Verbs:         Set, Get, Wait, Add, Swap, Erase and List; watches are not supported.
// Errors:        what the Store throws.
// Thread safety: as the Store.

#pragma once

#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/cluster/store/store.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster {

// Whether the store has been gone for longer than its patience, so that any call fails with
// PeerLost.
bool is_gone(Store& store, Deadline deadline);

StoreReply ask(Store& store, const StoreRequest& request, Deadline deadline);

// Sends the current request of a state machine and passes on the reply. A Wait is interrupted after
// `slice`, which the machine is told. Returns false when the deadline has passed.
template <class Machine>
bool advance(Store& store, Machine& machine, Duration slice, Deadline deadline) {
  const bool is_wait = machine.request().verb == StoreVerb::Wait;
  const Deadline until = is_wait ? min(deadline, Deadline::after(slice)) : deadline;
  try {
    machine.on_reply(ask(store, machine.request(), until));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Deadline) throw;
    if (deadline.is_past()) return false;
    machine.on_timeout();
  }
  return true;
}

}  // namespace trireme::cluster
