// Wiring is by what a rank reaches the others: the memory that it shares with those of its host,
// and messages to everybody.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/backend.h"

namespace trireme::comm::hierarchy {

struct Wiring {
  int rank = 0;
  std::vector<int> host_of;              // by rank: the first rank of its host
  std::shared_ptr<Arena> arena;          // null: this rank is alone on its host
  std::vector<int> places;               // by rank: its place in the arena, on this host
  std::shared_ptr<Messenger> messenger;  // null: all are on this host
  MessageBackend::Options messages;
};

// The backend of all its ranks.
std::shared_ptr<Backend> make_backend(const Wiring& wiring, std::uint64_t key);

}  // namespace trireme::comm::hierarchy
