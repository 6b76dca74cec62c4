// Solo is the agreement of a job of one rank: the reference for all others, and free of copies.
//
// Gradients stay where autograd put them. Several slots are added up along the tree of an ordered
// sum. Where the plan allows early updates, each parameter is updated as soon as its gradient is
// born and the gradient is given back, so that no two large ones need to live at once.

#pragma once

#include <memory>
#include <vector>

#include "trireme/optim/optimizer.h"
#include "trireme/parallel/agree.h"
#include "trireme/parallel/gradient_hooks.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/slot_sum.h"

namespace trireme::parallel {

class Solo final : public Agreement {
 public:
  struct Options {
    std::vector<Parameter> parameters;
    std::shared_ptr<const optim::Optimizer> optimizer;
    // Recomputation may bring a shared parameter's gradient in several parts.
    bool can_update_early = true;
  };
  explicit Solo(Options options);

  void begin_step(const StepPlan& plan) override;
  void begin_slot(std::size_t index) override;
  void end_slot() override;
  Gradients reduce(const Share& mine) override;
  void update(const Update& how) override;
  void drop() override;
  std::vector<checkpoint::Piece> pieces() override;
  std::vector<checkpoint::Piece> collect() override { return pieces(); }
  std::string first_not_finite() const override;

 private:
  void born(std::size_t parameter);
  optim::Slice slice_of(std::size_t parameter, const at::Tensor& gradient, double rate);

  Options options_;
  std::vector<std::vector<at::Tensor>> state_;  // by parameter, in the optimizer's order
  StepPlan plan_;
  bool is_early_ = false;  // now, in this slot
  std::size_t slots_done_ = 0;
  SlotSum slots_;
  GradientHooks hooks_;
};

}  // namespace trireme::parallel
