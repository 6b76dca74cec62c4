// assemble() connects a rank with every other rank over TCP. Each rank listens and publishes its
// address in the store; the higher rank of a pair connects to the lower.
//
// Each connection is authenticated in both directions before any data on it is used. Connections
// from unknown processes are rejected (net::Doorkeeper) and cannot delay the ranks. Members of an
// earlier epoch, and workers other than the one that has the rank, are rejected too: both ends send
// their worker and epoch in the handshake.
//
// Errors: Deadline, which names the ranks that did not connect; the errors of net::dial.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/log.h"
#include "trireme/cluster/store/store.h"
#include "trireme/comm/tcp/mesh.h"
#include "trireme/net/auth/credentials.h"

namespace trireme::comm::tcp {

struct AssembleOptions {
  int rank = 0;
  int size = 1;
  // The address to listen on; other hosts must be able to reach it.
  std::string host = "127.0.0.1";
  int streams = 1;
  bool checksums = false;
  // Prefix of the keys in the store; each mesh needs its own.
  std::string prefix = "comm/tcp/";
  std::uint64_t epoch = 0;     // of the job's membership
  std::uint64_t mesh = 0;      // index among the meshes of that epoch, if there are several
  std::vector<int> workers{};  // by rank; empty: the worker number equals the rank
  Log log{};                   // reports members that were rejected
  // Called repeatedly while waiting for ranks; an exception from it ends the wait.
  std::function<void()> check{};
};

std::shared_ptr<TcpMessenger> assemble(const AssembleOptions& options, cluster::Store& store,
                                       std::shared_ptr<const net::Credentials> credentials,
                                       Deadline deadline);

}  // namespace trireme::comm::tcp
