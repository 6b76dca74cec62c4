// Assigns micro-batches to data-parallel replicas. An assignment is a list of replicas, one per
// micro-batch: its owner.
//
// Thread safety: pure functions.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trireme::train {

// Gives each replica consecutive micro-batches, as evenly as possible.
std::vector<int> assign_micro_batches(int micro_batches, int replicas);
// Gives each replica consecutive micro-batches, as close to its share as whole micro-batches allow,
// and at least one. REQUIRES: at least one micro-batch per replica.
std::vector<int> assign_micro_batches(int micro_batches, std::span<const double> shares);
// The relative sizes of micro-batches that may have any size: each replica's share, divided evenly
// among its micro-batches.
std::vector<std::int64_t> micro_batch_weights(std::span<const int> owners,
                                              std::span<const double> shares);

// The micro-batches of one replica, ascending.
std::vector<int> micro_batches_of(int replica, std::span<const int> owners);

// Splits each micro-batch into `pieces`. The argument lists the owners, or the weights.
template <class T>
std::vector<T> split_micro_batches(const std::vector<T>& micro_batches, int pieces) {
  std::vector<T> cut;
  for (const T& micro_batch : micro_batches)
    cut.insert(cut.end(), static_cast<std::size_t>(pieces), micro_batch);
  return cut;
}

// The assignment after workers have failed: surviving workers keep their micro-batches, and those
// of failed workers go one by one to the replica with the fewest. `before` and `now` give the
// worker of each replica in the last and in the current epoch; `owners` are replicas of the last
// epoch.
std::vector<int> reassign_micro_batches(std::span<const int> owners, std::span<const int> before,
                                        std::span<const int> now);

}  // namespace trireme::train
