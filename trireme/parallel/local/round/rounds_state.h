// RoundsState is what rounds contribute to checkpoints: the first replica as the model, the other
// replicas with their buffers, and the state of the fragments, such as outer weights and momentum.
//
// Errors, thread safety: as SavedState.
// Lifetime:              the parts must outlive this object.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "trireme/parallel/independent_replicas.h"
#include "trireme/parallel/local/fragments.h"
#include "trireme/parallel/local/round/round_exchange.h"
#include "trireme/parallel/local/round/round_recovery.h"

namespace trireme::parallel::local {

class RoundsState final : public SavedState {
 public:
  struct Parts {
    IndependentReplicas& replicas;
    Fragments& fragments;
    RoundExchange& exchange;
    RoundRecovery& recovery;
  };
  explicit RoundsState(Parts parts) : parts_(parts) {}

  std::vector<checkpoint::Piece> pieces() override { return parts_.replicas.pieces(); }
  void restored() override;
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;
  std::optional<Holders> holders() const override { return parts_.replicas.holders(); }

 private:
  std::vector<checkpoint::Piece> pieces_of_replica() const;

  Parts parts_;
  at::Tensor alike_;  // RoundExchange::is_alike(), as it is saved
};

}  // namespace trireme::parallel::local
