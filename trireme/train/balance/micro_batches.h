// Who runs which slot: a list of ranks, one a slot.
//
// Threads: pure.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trireme::train {

// Neighbouring slots to one rank, as evenly as they go.
std::vector<int> assign_micro_batches(int micro_batches, int ranks);
// In the proportion of these shares, as nearly as whole slots go, and at least one to each rank.
// REQUIRES: no fewer slots than ranks.
std::vector<int> assign_micro_batches(int micro_batches, std::span<const double> shares);
// By slot, for slots that may be of any size: a rank's share, divided among its own.
std::vector<std::int64_t> micro_batch_weights(std::span<const int> owners,
                                              std::span<const double> shares);

// Those of one rank, ascending.
std::vector<int> micro_batches_of(int rank, std::span<const int> owners);

// Each slot in so many pieces: their owners, or their weights.
template <class T>
std::vector<T> split_micro_batches(const std::vector<T>& micro_batches, int pieces) {
  std::vector<T> cut;
  for (const T& micro_batch : micro_batches)
    cut.insert(cut.end(), static_cast<std::size_t>(pieces), micro_batch);
  return cut;
}

// After deaths: whoever lives keeps its slots, and those of the dead go, one by one, to whoever has
// fewest. `before` and `now` say by rank who it was and is; `owners` are of those before.
std::vector<int> reassign_micro_batches(std::span<const int> owners, std::span<const int> before,
                                        std::span<const int> now);

}  // namespace trireme::train
