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

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/model/interruption.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/parallel/independent_replicas.h"
#include "trireme/parallel/local/fragment.h"
#include "trireme/parallel/local/replica_marks.h"
#include "trireme/parallel/local/replica_transfer.h"
#include "trireme/parallel/local/round_action.h"
#include "trireme/parallel/local/round_end.h"
#include "trireme/parallel/local/rounds_config.h"

namespace trireme::parallel::local {

inline constexpr FaultPoint kRoundOver{"round.over"};     // the round ended; nothing is sent yet
inline constexpr FaultPoint kGathered{"round.gathered"};  // all values are here; none is written
inline constexpr FaultPoint kLanded{"round.landed"};      // this rank has written a fragment

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
    Gathering gathering = Gathering::Average;
    Pace pace{};
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

  bool keeps_micro_batches() const override { return false; }
  void survive(const comm::Group& group, std::vector<int> places) override;
  void finish_failed_ranks() override;
  void regroup(bool is_new) override;

 private:
  void join() override;
  void settle() override { replicas_.settle(); }
  void check() override { replicas_.check(); }
  std::string first_not_finite(bool has_gradients) const override {
    return replicas_.first_not_finite(has_gradients);
  }
  std::vector<checkpoint::Piece> pieces() override { return replicas_.pieces(); }
  void restored() override {
    replicas_.restored();
    has_state_ = true;
  }
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;
  std::optional<Holders> holders() const override { return replicas_.holders(); }

  // What a rank reports to the other ranks of a new group.
  struct Report {
    bool has_state = false;
    RoundAction done{};
  };

  double distance();
  void take_votes();
  void end_step();
  bool has_turns(bool is_last);
  bool is_over() const;
  void bring_together(Occasion occasion);
  bool is_shared() const;
  void do_together(RoundAction action);
  void gather(RoundAction action);
  void send(Fragment& fragment);
  void take(RoundAction action);
  bool sends_at_once(RoundAction action) const;
  void throw_if_pointless() const override;
  std::vector<Report> reports(bool is_new) const;
  void take_done(const std::vector<Report>& all);
  void drop_doubtful(bool has_state);
  void share(const std::vector<Report>& all);
  void give_replica(int source, bool is_given);
  void give_outer(const comm::Group& group, int source, bool is_given);
  std::vector<std::int64_t> numbers() const;
  void go_along(std::span<const std::int64_t> numbers);
  void poll();
  bool is_overlapped() const noexcept { return options_.pace.overlap > 0; }
  bool is_in_pairs() const noexcept { return options_.gathering == Gathering::Pair; }
  GradientSync& own() const noexcept { return *replicas_.replica().own; }
  int number() const { return replicas_.replica().number(); }
  // The one rank that saves what holds for all ranks.
  bool is_teller() const { return number() == 0 && replicas_.replica().inside.rank() == 0; }
  bool is_led() const noexcept { return replicas_.replica().is_led(); }
  Fragment::Seat seat() const;

  Options options_;
  ReplicaMarks marks_;
  IndependentReplicas replicas_;
  std::vector<Fragment> fragments_;
  RoundEnd end_;
  StepPlan plan_;
  bool is_ending_ = false;            // a rank wants the round to end with this step
  bool is_changing_ = false;          // ranks join or leave after this step
  bool is_alike_ = true;              // no replica has changed since they were combined
  at::Tensor saved_alike_;            // is_alike_, as it is saved
  Traffic traffic_;                   // not yet reported
  RoundAction due_;                   // the action that this rank has yet to complete
  RoundAction done_;                  // the last action that this rank completed
  RoundTurn turn_{0};                 // of due_
  bool is_gathered_ = false;          // everything that due_ needs is here
  ReplicaState joined_;               // at the end of the job: mean values and state
  std::vector<at::Tensor> averaged_;  // the mean of the buffers, for a round or the end of the job
  std::vector<at::Tensor> first_buffers_;  // as they were when the step began
  bool is_surviving_ = false;              // from survive() to regroup()
  bool has_state_ = false;                 // that all ranks share
};

}  // namespace trireme::parallel::local
