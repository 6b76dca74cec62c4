// dial() makes the client's end of an authenticated connection: it connects, authenticates this
// end, and verifies the identity of the server.
//
// Retries:       if there is no listener, the connection is refused or the server hangs up before
//                it has authenticated (it may be overloaded or starting), dial() tries again with
//                growing pauses of 1 ms to 50 ms until the deadline.
// Errors:        Unreachable if no connection was made, with the reason of the last failure;
//                Unauthenticated if the server has another secret and Protocol if it is not a
//                Trireme server, both without a retry; Deadline if a server accepted the connection
//                and never answered.
// Thread safety: any thread may call it; it blocks only the caller.

#pragma once

#include <string_view>

#include "trireme/base/bytes.h"
#include "trireme/base/deadline.h"
#include "trireme/net/address.h"
#include "trireme/net/auth/credentials.h"
#include "trireme/net/socket.h"

namespace trireme::net {

struct Dialed {
  Socket socket;
  Identity peer;
  Bytes rest;  // bytes received after the handshake
};

// `purpose`: the purpose of the connection that this end announces, see Identity.
Dialed dial(const Address& address, const Credentials& credentials, Deadline deadline,
            std::string_view purpose = {});

}  // namespace trireme::net
