// SavedState is what a synchronization strategy contributes to checkpoints: which pieces of values
// and optimizer state this rank saves, and how it reads them back.
//
//   saved.seek(step);                         // the step that comes next
//   for (piece : saved.pieces()) ... read     // overwritten with the checkpoint's values
//   saved.restored();
//   saved.restore_own(checkpoint);
//
// Errors:        what Group throws.
// Thread safety: as GradientSync. Every function that is not const is a collective.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/state.h"
#include "trireme/comm/group.h"

namespace trireme::parallel {

// The ranks that hold one of several replicas of the model together.
struct Holders {
  comm::Group ranks;
  bool is_first = false;  // this replica is saved as the model
};

// The name of a piece of optimizer state: "optim/exp_avg/h.0.attn.c_attn.weight".
inline std::string state_name(const std::string& state, const std::string& parameter) {
  return "optim/" + state + "/" + parameter;
}

class SavedState {
 public:
  virtual ~SavedState() = default;

  // The next step is this one; for strategies that depend on the step. Call it before pieces() when
  // a checkpoint is read.
  virtual void seek(std::int64_t /*step*/) {}
  // The values and the optimizer state that this rank updates: views to save, or to overwrite.
  virtual std::vector<checkpoint::Piece> pieces() = 0;
  // The pieces of every rank were overwritten: makes the new values known to all ranks.
  virtual void restored() {}
  // What this rank has besides, under names or in pieces that no other rank saves, such as
  // error-feedback residuals. A checkpoint may lack it, or hold it of another number of ranks.
  virtual std::vector<checkpoint::Piece> own_pieces() { return {}; }
  virtual void restore_own(const checkpoint::Checkpoint& /*from*/) {}
  // Other ranks, which cut shards differently, save all of these pieces, too.
  virtual bool are_pieces_spare() const { return false; }
  // If replicas differ between two synchronizations: the ranks that hold this one. The first
  // replica is saved as the model. Empty if all ranks have the same weights.
  virtual std::optional<Holders> holders() const { return std::nullopt; }
  // Whether there are such replicas, now or in a later step.
  virtual bool has_replicas() const { return holders().has_value(); }
};

}  // namespace trireme::parallel
