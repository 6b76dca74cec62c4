// Composition decides which parts data parallelism is composed of, from the settings of a job.
//
// Thread safety: a value.

#pragma once

#include "trireme/parallel/data/placement.h"
#include "trireme/parallel/data/storage/storage.h"

namespace trireme::parallel::data {

// What each rank holds only a shard of; each choice includes those before it.
enum class Sharding { None, State, Gradients, Weights };

struct Composition {
  Sharding sharding = Sharding::None;
  bool is_ordered = false;       // sums follow a fixed tree over logical ranks
  bool is_elastic = false;       // ranks may be lost and join
  bool is_spread = false;        // elastic: on several hosts
  bool keeps_gradients = false;  // elastic: gradients stay until the step is committed

  // Each rank updates a shard of the model.
  bool is_sharded() const noexcept { return sharding != Sharding::None; }
  // Every host holds all shards, so that a whole host can be lost.
  bool is_per_host() const noexcept { return is_elastic && is_spread && is_sharded(); }
  StorageKind storage(const Placement& where) const {
    if (!is_sharded()) return StorageKind::Replicated;
    if (where.host.arena() != nullptr) return StorageKind::Shared;
    return sharding == Sharding::Weights ? StorageKind::Gathered : StorageKind::Sharded;
  }
  // The memory of a bucket is returned as soon as its shards are reduced.
  bool is_released() const noexcept {
    return sharding >= Sharding::Gradients && !is_ordered && !(is_elastic && keeps_gradients);
  }
  // Whole sums have memory besides this rank's own gradients.
  bool has_own_sums() const noexcept {
    return !is_sharded() && !is_ordered && is_elastic && keeps_gradients;
  }
  // Gradients of finished micro-batches stay if the step is run again.
  bool keeps_finished() const noexcept {
    return is_ordered || has_own_sums() || (is_sharded() && !is_released());
  }
};

}  // namespace trireme::parallel::data
