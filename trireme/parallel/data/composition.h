// Composition decides which parts data parallelism is composed of, from the settings of a job. The
// other classes of this folder ask for its decisions, and not for combinations of settings.
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
  bool is_ordered = false;      // sums follow a fixed tree over logical ranks
  bool is_in_parts = false;     // a parameter's gradient may come in several parts
  bool can_leave_out = false;   // steps may be committed without stragglers
  bool can_drop = false;        // the job may go on after a step that is dropped
  bool is_elastic = false;      // ranks may be lost and join
  bool is_spread = false;       // elastic: on several hosts
  bool keeps_gradients = true;  // elastic: gradients stay until the step is committed

  // Each rank updates a shard of the model.
  bool is_sharded() const noexcept { return sharding != Sharding::None; }
  // Every host holds all shards, so that a whole host can be lost.
  bool is_per_host() const noexcept { return is_elastic && is_spread && is_sharded(); }
  StorageKind storage(const Placement& where) const {
    if (!is_sharded()) return StorageKind::Replicated;
    if (where.host.arena() != nullptr) return StorageKind::Shared;
    return sharding == Sharding::Weights ? StorageKind::Gathered : StorageKind::Sharded;
  }
  bool is_shared(const Placement& where) const { return storage(where) == StorageKind::Shared; }

  // Ranks record how far they are in a step, for those that complete it if they die.
  bool has_ledger(const Placement& where) const {
    return is_elastic && (!is_spread || is_shared(where));
  }
  // Error-feedback residuals outlive their rank, in memory of its host.
  bool has_recoverable_residuals() const noexcept { return is_elastic && !is_spread; }

  // Layers write gradients to their bucket. Ordered sums keep those of each micro-batch apart.
  bool lends_gradients() const noexcept { return !is_ordered; }
  // Passes end early if their step cannot be committed with this rank. Ordered micro-batches are
  // always finished, because their gradients can be kept.
  bool is_interruptible() const noexcept { return can_leave_out || (is_elastic && !is_ordered); }
  // Residuals of the step before are kept until the step is committed.
  bool can_undo_residuals() const noexcept { return is_elastic || can_drop; }
  // The passes of a micro-batch may have to be undone.
  bool can_undo_passes() const noexcept { return is_elastic || can_leave_out; }
  // Buckets are sent after the last micro-batch: what was sent cannot be taken back if this rank is
  // left out.
  bool sends_at_end() const noexcept { return is_in_parts || can_leave_out; }
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
