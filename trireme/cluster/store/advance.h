// advance(): one step of a state machine that expresses its queries as requests, so that it runs
// over both real and simulated stores.
//
// Errors:        what the Store throws, except for Deadline.
// Thread safety: as the Store.

#pragma once

#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster {

// Sends the current request of the machine and passes on the reply. A Wait is interrupted after
// `slice`, which the machine is told. Returns false when the deadline has passed.
template <class Machine>
bool advance(Store& store, Machine& machine, Duration slice, Deadline deadline) {
  const bool is_wait = machine.request().verb == StoreVerb::Wait;
  const Deadline until = is_wait ? min(deadline, Deadline::after(slice)) : deadline;
  try {
    machine.on_reply(store.ask(machine.request(), until));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Deadline) throw;
    if (deadline.is_past()) return false;
    machine.on_timeout();
  }
  return true;
}

}  // namespace trireme::cluster
