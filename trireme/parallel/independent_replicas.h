// IndependentReplicas is the synchronization strategy of replicas that exchange neither gradients
// nor weights during training. Each replica is trained on its own micro-batches, by one rank or by
// several, and join() averages the replicas once, at the end.
//
// Replicas only vote on requests to stop and on whether a step was finite: if it was not on some
// rank, all ranks drop it. With slack the result of a vote arrives that many steps later (see
// StepCommit): a step that was not finite is dropped at once by its own replica, and all replicas
// drop the step in which the result arrives.
//
// Errors, thread safety, lifetime: as GradientSync.

#pragma once

#include <vector>

#include "trireme/parallel/replica.h"

namespace trireme::parallel {

class IndependentReplicas final : public GradientSync, public CommonModel, public SavedState {
 public:
  // Gives the first replica's weights to all ranks. If replicas are led, it does not: the caller
  // calls regroup() first and then distributes the weights itself.
  // `commit`: without its group and replica.
  IndependentReplicas(Replica replica, std::vector<at::Tensor> buffers,
                      StepCommit::Options commit = {});

  void begin_step(const StepPlan& plan) override;
  bool begin_micro_batch(std::size_t index) override { return own().begin_micro_batch(index); }
  void end_micro_batch() override { own().end_micro_batch(); }
  void finish_reduction() override { finish_reduction({}); }
  // For strategies that build on this one: contributes this to the vote.
  void finish_reduction(Reduced reduced);
  void update(const Update& how) override;
  void drop() override;
  void join() override;
  void settle() override { own().model().settle(); }
  PassServices passes() override { return own().passes(); }
  Roles roles() override { return {commit_, *this, *this}; }
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
  StepCommit commit_;
  double weight_ = 1;  // the global batch, relative to this replica's batch
};

}  // namespace trireme::parallel
