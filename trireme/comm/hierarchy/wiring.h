// Wiring is how a rank reaches the other ranks: shared memory for ranks on the same host, and
// messages for all ranks.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/backend.h"

namespace trireme::comm::hierarchy {

struct Wiring {
  int rank = 0;
  std::vector<int> host_of;              // by rank: the first rank on its host
  std::shared_ptr<Arena> arena;          // null if this rank is the only one on its host
  std::vector<int> places;               // by rank: its member number in the arena, on this host
  std::shared_ptr<Messenger> messenger;  // null if all ranks are on this host
  MessageBackend::Options messages;
  std::uint64_t epoch = 0;  // of an elastic job
};

// Creates the backend of all ranks of `wiring`.
std::shared_ptr<Backend> make_backend(const Wiring& wiring, std::uint64_t key);

}  // namespace trireme::comm::hierarchy
