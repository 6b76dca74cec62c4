// assemble() connects a rank with every other over TCP: each listens, says where through the
// store, and the higher rank of a pair calls the lower.
//
// Every connection is authenticated both ways before a byte of it counts; strangers at the door
// are turned away as everywhere (net::Doorkeeper) and cannot hold the ranks up.
//
// Failure: Deadline naming the ranks that did not come; what net::dial throws.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/cluster/store.h"
#include "trireme/comm/tcp/mesh.h"
#include "trireme/net/credentials.h"

namespace trireme::comm::tcp {

struct AssembleOptions {
  int rank = 0;
  int size = 1;
  // Where to listen; other hosts must be able to reach it.
  std::string host = "127.0.0.1";
  int streams = 1;
  bool checksums = false;
  // Keys in the store begin with this; one mesh a prefix.
  std::string prefix = "comm/tcp/";
  // Asked again and again while ranks are waited for; what it throws ends the waiting.
  std::function<void()> check{};
};

std::shared_ptr<Mesh> assemble(const AssembleOptions& options, cluster::Store& store,
                               std::shared_ptr<const net::Credentials> credentials,
                               Deadline deadline);

}  // namespace trireme::comm::tcp
