// Delayed is the agreement of ranks that apply gradients one step late: a step's gradients travel
// while the next one is computed, and nobody waits for them.
//
// In step t weights move by the gradients of step t - 1, added up over all ranks; in the first one
// they do not move, and those of the last step are never applied. What is still waited for in every
// step is a few numbers: loss, wishes, which parameters were used.
//
// All ranks have the same weights at all times. Gradients that are on their way are saved with a
// checkpoint.
// Threads, failure, lifetime: as Agreement.

#pragma once

#include <memory>
#include <vector>

#include "trireme/parallel/local/flat_model.h"
#include "trireme/parallel/solo.h"

namespace trireme::parallel::local {

class Delayed final : public Agreement {
 public:
  struct Options {
    Solo::Options own;
    std::vector<at::Tensor> buffers{};  // rank 0's are everybody's, from step to step
    FlatModel::Options flat;
  };
  explicit Delayed(Options options);

  void begin_step(const StepPlan& plan) override;
  void begin_slot(std::size_t index) override { own_->begin_slot(index); }
  void end_slot() override { own_->end_slot(); }
  Gradients reduce(const Share& mine) override;
  double total(double mine) override;
  void update(const Update& how) override;
  void drop() override;
  void join() override { land(); }
  void settle() override { broadcast_buffers(); }
  void check() override;
  std::vector<checkpoint::Piece> pieces() override { return own_->pieces(); }
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;
  std::string first_not_finite() const override { return own_->first_not_finite(); }

 private:
  // Gradients of one step, of all ranks once they have landed.
  struct Late {
    at::Tensor flat;
    std::vector<bool> is_used;
    bool is_there = false;  // otherwise there are none to apply
  };
  void land();
  void broadcast_buffers();

  comm::Group group_;
  std::vector<at::Tensor> buffers_;
  FlatModel flat_;
  std::unique_ptr<Solo> own_;
  StepPlan plan_;
  Late last_;   // of the step before, on its way or landed
  Late ready_;  // what update() applies
  bool is_travelling_ = false;
};

}  // namespace trireme::parallel::local
