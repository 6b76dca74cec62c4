// Rounds is the synchronization strategy of local-update methods: each replica is trained
// independently for a round of some steps, and then the replicas are combined. A replica belongs to
// one rank, or to the ranks of a host, which synchronize with each other in every step.
//
//   Average   weights become the mean over all replicas (local SGD); a codec encodes the difference
//             from the weights of the last round
//   Outer     the mean movement of the replicas in the round is the gradient of an outer step with
//             Nesterov momentum (DiLoCo)
//   Pair      pairs of replicas, drawn anew in every round, average their weights (gossip)
//
// The first round begins with step `pace.begin`. Within a round replicas exchange only requests to
// stop and whether a step was finite. Each replica has its own optimizer state until join()
// averages it. If several ranks hold a replica, each exchanges the part that it updates with the
// ranks that have the same part of other replicas.
//
// Saved: the first replica as the model; beside it the other replicas with their buffers, and the
// outer weights and momentum.
//
// In an elastic job (is_elastic):
// - A step completes on all live ranks or on none, and so does a round: no parameter is written
//   before all ranks have everything that the round needs.
// - What a failed replica has learned since the last round is lost. The round continues with the
//   other replicas, and its mean is over them. Outer weights and momentum are the same on all ranks
//   and survive.
// - Live ranks send values that were in flight again, unchanged. They land on all live ranks or on
//   none.
// - Ranks join and leave only at the end of a round. Before that all fragments are synchronized and
//   none is in flight, so that a rank that leaves takes nothing with it. A new rank begins with the
//   state of a rank that has one.
// - A replica that the ranks of a host hold survives as long as one of them does: before a rank
//   changes shared memory, it writes a mark there, from which the others finish the change.
//
// Errors, thread safety, lifetime: as GradientSync.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trireme/model/interruption.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/parallel/independent_replicas.h"
#include "trireme/parallel/local/fragments.h"
#include "trireme/parallel/local/round/replica_marks.h"
#include "trireme/parallel/local/round/round_end.h"
#include "trireme/parallel/local/round/round_exchange.h"
#include "trireme/parallel/local/round/round_recovery.h"
#include "trireme/parallel/local/rounds_config.h"

namespace trireme::parallel::local {

class Rounds final : public GradientSync,
                     public ElasticSync,
                     private CommonModel,
                     private SavedState,
                     private model::Interruption {
 public:
  struct Options {
    Replica replica;
    std::vector<at::Tensor> buffers{};
    FlatModel::Options flat;  // without parameters and group
    CombineRule gathering = CombineRule::Average;
    RoundSettings pace{};
    // Ranks may fail, leave and join. REQUIRES: each rank has its own replica, or replicas are led.
    bool is_elastic = false;
    Faults* faults = nullptr;
  };
  explicit Rounds(Options options);

  void begin_step(const StepPlan& plan) override;
  bool begin_micro_batch(std::size_t index) override;
  void end_micro_batch() override;
  void finish_reduction() override;
  void update(const Update& how) override;
  void drop() override;
  PassServices passes() override;
  Roles roles() override { return {replicas_.commit(), *this, *this}; }

  bool keeps_micro_batches() const override { return recovery_.keeps_micro_batches(); }
  void survive(const comm::Group& group, std::vector<int> places) override {
    recovery_.survive(group, std::move(places));
  }
  void finish_failed_ranks() override { recovery_.finish_failed_ranks(); }
  void regroup(bool is_new) override { recovery_.regroup(is_new); }

 private:
  void join() override;
  void settle() override { replicas_.settle(); }
  void check() override { replicas_.check(); }
  std::string first_not_finite(bool has_gradients) const override {
    return replicas_.first_not_finite(has_gradients);
  }
  void throw_if_pointless() const override;

  std::vector<checkpoint::Piece> pieces() override { return replicas_.pieces(); }
  void restored() override;
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;
  std::optional<Holders> holders() const override { return replicas_.holders(); }
  std::vector<checkpoint::Piece> pieces_of_replica() const;

  void begin_elastic_step();
  void take_votes();
  bool is_over() const { return is_ending_ || end_.is_last(exchange_.step()); }
  void end_step();
  RoundTurn turn_of_step() const;
  bool must_land(const Fragment& fragment, bool is_turn) const;

  Options options_;
  ReplicaMarks marks_;
  IndependentReplicas replicas_;
  RoundEnd end_;
  Fragments fragments_;
  RoundExchange exchange_;
  RoundRecovery recovery_;
  at::Tensor alike_;          // RoundExchange::is_alike(), as it is saved
  bool is_ending_ = false;    // a rank wants the round to end with this step
  bool is_changing_ = false;  // ranks join or leave after this step
};

}  // namespace trireme::parallel::local
