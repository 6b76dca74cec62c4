// dial() makes the client's end of an authenticated connection: it connects, proves who we are
// and learns who answered.
//
// Trying:  while nobody is there, the door is shut or the server hangs up before it has proven
//          itself (it may be crowded or starting), it tries again with growing pauses, from 1 ms
//          to 50 ms, until the deadline.
// Failure: Unreachable when no connection came about, saying why the last attempt failed;
//          Unauthenticated when the server knows another secret, Protocol when it is no server
//          of ours, both at once; Deadline when a server took the connection and never answered.
// Threads: any; blocks the caller only.

#pragma once

#include "trireme/base/bytes.h"
#include "trireme/base/deadline.h"
#include "trireme/net/address.h"
#include "trireme/net/credentials.h"
#include "trireme/net/socket.h"

namespace trireme::net {

struct Dialed {
  Socket socket;
  Identity peer;
  Bytes rest;  // what came behind the handshake
};

Dialed dial(const Address& address, const Credentials& credentials, Deadline deadline);

}  // namespace trireme::net
