// SingleRank is the synchronization strategy of a job of one rank. It is the reference for all
// others, and it makes no copies. Where a data-parallel replica has several ranks, it is also that
// of one replica: each rank updates its own shards, and they commit together.
//
// Gradients stay where autograd put them. Several micro-batches are added up along the tree of an
// ordered sum. If the plan allows early updates, each parameter is updated as soon as its gradient
// is complete, and the gradient is freed, so that only one large gradient exists at a time.
//
// Errors, thread safety, lifetime: as GradientSync.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trireme/optim/optimizer.h"
#include "trireme/parallel/gradient_hooks.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/micro_batch_sum.h"
#include "trireme/parallel/narrow_weights.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/pending_rows.h"

namespace trireme::parallel {

class SingleRank final : public GradientSync,
                         private CommonModel,
                         private SavedState,
                         private model::GradientBuffers {
 public:
  struct Options {
    std::vector<Parameter> parameters;
    std::shared_ptr<const optim::Optimizer> optimizer;
    comm::Group replica_group = comm::Group::solo();  // see SyncOptions
    // Must be false if a gradient arrives in several parts, as with activation recomputation, or if
    // backward may still read the value.
    bool can_update_early = true;
    // Sums have a fixed order, so layers must not write gradients in their own order
    // (GradientBuffers is not offered).
    bool is_ordered = false;
    // In which passes read weights. Only used on a GPU, where many small conversions take long.
    std::optional<at::ScalarType> narrow_type{};
    // Called from time to time while backward runs.
    std::function<void()> progress{};
  };
  explicit SingleRank(Options options);

  const std::vector<Parameter>& parameters() const noexcept { return options_.parameters; }

  void begin_step(const StepPlan& plan) override;
  bool begin_micro_batch(std::size_t index) override;
  void end_micro_batch() override;
  void finish_reduction() override;
  void update(const Update& how) override;
  void drop() override;
  PassServices passes() override {
    return {.gradient_buffers = options_.is_ordered ? nullptr : this,
            .weights = narrow_ ? &*narrow_ : nullptr,
            .updates_early = is_early_};
  }
  Roles roles() override { return {commit_, *this, *this}; }

 private:
  std::vector<checkpoint::Piece> pieces() override;
  std::string first_not_finite(bool has_gradients) const override;
  // Gradients stay where layers put them, so lend() lends nothing. It only notes for add_rows()
  // that the rest of this gradient will follow.
  at::Tensor lend(const at::Tensor& parameter) override;
  bool add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                const at::Tensor& values) override;
  void on_gradient(std::size_t parameter);
  optim::Slice slice_of(std::size_t parameter, const at::Tensor& gradient, double rate);

  Options options_;
  std::vector<std::vector<at::Tensor>> state_;          // by parameter, in the optimizer's order
  std::unordered_map<const void*, std::size_t> index_;  // of a parameter, by its tensor
  std::optional<NarrowWeights> narrow_;
  PendingRows rows_;
  std::vector<bool> is_asked_;  // in this micro-batch, by a layer that will write the gradient
  std::vector<bool> has_come_;  // in this micro-batch
  StepPlan plan_;
  StepCommit commit_;
  bool is_early_ = false;  // now, in this micro-batch
  std::size_t micro_batches_done_ = 0;
  MicroBatchSum micro_batches_;
  GradientHooks hooks_;
};

}  // namespace trireme::parallel
