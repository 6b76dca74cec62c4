// IndependentReplicas is the synchronization strategy of replicas that exchange neither gradients
// nor weights during training. Each replica is trained on its own micro-batches, by one rank or by
// several, and join() averages the replicas once, at the end.
//
// Replicas only vote on requests to stop and on whether a step was finite: if it was not on some
// rank, all ranks drop it. With slack the result of a vote arrives that many steps later (votes.h),
// so that a rank does not wait for one that is no further behind. A step that was not finite is
// then dropped at once by its own replica, and all replicas drop the step in which the result
// arrives.
//
// Errors, thread safety, lifetime: as GradientSync.

#pragma once

#include <memory>
#include <vector>

#include "trireme/parallel/replica.h"
#include "trireme/parallel/votes.h"

namespace trireme::parallel {

class IndependentReplicas final : public GradientSync, public CommonModel, public SavedState {
 public:
  // Gives the first replica's weights to all ranks. If replicas are led, it does not: the caller
  // calls regroup() first and then distributes the weights itself.
  IndependentReplicas(Replica replica, std::vector<at::Tensor> buffers, std::int64_t slack = 0);

  void begin_step(const StepPlan& plan) override;
  void begin_micro_batch(std::size_t index) override { own().begin_micro_batch(index); }
  void end_micro_batch() override { own().end_micro_batch(); }
  Gradients reduce(const Share& mine) override;
  // The same with another vote: `wish` is this rank's on entry, and on return whether any rank's
  // was true in this step, or with slack, that many steps earlier.
  Gradients reduce(const Share& mine, bool& wish);
  // The result of the votes in the last reduce().
  const std::vector<double>& figures() const noexcept { return figures_; }
  // The result of a step whose reduce() was interrupted on this rank, from the figures that it gave
  // another rank.
  Gradients recall(std::vector<double> figures, bool& wish);
  // An estimate of the total over all replicas from this one; exact if the others have the same
  // amount per micro-batch.
  double total(double mine) override { return own().total(mine) * weight_; }
  void update(const Update& how) override;
  void drop() override { own().drop(); }
  void join() override;
  void settle() override { own().model().settle(); }
  PassServices passes() override { return own().passes(); }
  CommonModel& model() override { return *this; }
  SavedState& saved() override { return *this; }
  void check() override { own().model().check(); }
  std::vector<checkpoint::Piece> pieces() override { return own().saved().pieces(); }
  void restored() override;
  std::optional<Holders> holders() const override { return replica_.holders(); }
  // Looks at this replica only: before join() there is no common model.
  std::string first_not_finite(bool has_gradients) const override {
    return own().model().first_not_finite(has_gradients);
  }

  const Replica& replica() const noexcept { return replica_; }
  // The mean of floating-point buffers over all replicas, and the first replica's other buffers, as
  // an argument of set_buffers(). A collective.
  std::vector<at::Tensor> mean_of_buffers() const;
  void set_buffers(const std::vector<at::Tensor>& values) const;
  const std::vector<at::Tensor>& buffers() const noexcept { return buffers_; }
  // Uses this group from now on; see Replica.
  void regroup(const comm::Group& group, const std::vector<int>& places);

 private:
  GradientSync& own() const noexcept { return *replica_.own; }

  Replica replica_;
  std::vector<at::Tensor> buffers_;
  Votes votes_;
  double weight_ = 1;      // the global batch, relative to this replica's batch
  bool is_sound_ = true;   // this rank's step was finite
  double sound_loss_ = 0;  // of the last finite step
  Gradients found_;        // this replica's result of this step
  std::vector<double> figures_;
};

}  // namespace trireme::parallel
