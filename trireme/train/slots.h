// Who runs which slot: a list of ranks, one a slot.
//
// Threads: pure.

#pragma once

#include <span>
#include <vector>

namespace trireme::train {

// Neighbouring slots to one rank, as evenly as they go.
std::vector<int> deal_slots(int slots, int ranks);

// Those of one rank, ascending.
std::vector<int> slots_of(int rank, std::span<const int> owners);

// Each slot in so many pieces.
std::vector<int> cut_slots(std::span<const int> owners, int pieces);

// After deaths: whoever lives keeps its slots, and those of the dead go, one by one, to whoever has
// fewest. `before` and `now` say by rank who it was and is; `owners` are of those before.
std::vector<int> redeal_slots(std::span<const int> owners, std::span<const int> before,
                              std::span<const int> now);

}  // namespace trireme::train
