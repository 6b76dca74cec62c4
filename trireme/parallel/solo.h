// Solo is the agreement of a job of one rank: the reference for all others, and free of copies.
//
// Gradients stay where autograd put them. Several slots are added up along the tree of an ordered
// sum. Where the plan allows early updates, each parameter is updated as soon as its gradient is
// born and the gradient is given back, so that no two large ones need to live at once.

#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "trireme/optim/optimizer.h"
#include "trireme/parallel/gradient_hooks.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/micro_batch_sum.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/pending_rows.h"

namespace trireme::parallel {

class Solo final : public GradientSync,
                   private CommonModel,
                   private SavedState,
                   private model::GradientBuffers {
 public:
  struct Options {
    std::vector<Parameter> parameters;
    std::shared_ptr<const optim::Optimizer> optimizer;
    // Not where a gradient comes in several parts, as with recomputation, nor where backward may
    // still read the value.
    bool can_update_early = true;
    // Sums in a fixed order are made of gradients that were, too.
    bool is_ordered = false;
    // Called now and then while backward runs.
    std::function<void()> progress{};
  };
  explicit Solo(Options options);

  const std::vector<Parameter>& parameters() const noexcept { return options_.parameters; }

  void begin_step(const StepPlan& plan) override;
  void begin_micro_batch(std::size_t index) override;
  void end_micro_batch() override;
  Gradients reduce(const Share& mine) override;
  void update(const Update& how) override;
  void drop() override;
  PassServices passes() override {
    return {.gradient_buffers = options_.is_ordered ? nullptr : this};
  }
  CommonModel& model() override { return *this; }
  SavedState& saved() override { return *this; }

 private:
  std::vector<checkpoint::Piece> pieces() override;
  std::string first_not_finite() const override;
  // Gradients are welcome wherever they are; only rows of tables need not become whole ones.
  at::Tensor lend(const at::Tensor& parameter) override;
  bool add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                const at::Tensor& values) override;
  void on_gradient(std::size_t parameter);
  optim::Slice slice_of(std::size_t parameter, const at::Tensor& gradient, double rate);

  Options options_;
  std::vector<std::vector<at::Tensor>> state_;          // by parameter, in the optimizer's order
  std::unordered_map<const void*, std::size_t> index_;  // of a parameter, by its tensor
  PendingRows rows_;
  std::vector<bool> is_asked_;  // in this slot, by a layer that is going to write its gradient
  std::vector<bool> has_come_;  // in this slot
  StepPlan plan_;
  bool is_early_ = false;  // now, in this slot
  std::size_t micro_batches_done_ = 0;
  MicroBatchSum micro_batches_;
  GradientHooks hooks_;
};

}  // namespace trireme::parallel
