// Delayed is a synchronization strategy that applies gradients one step late: a step's gradients
// are reduced while the next step runs, so that no rank waits for them.
//
// Step t applies the gradients of step t - 1, summed over all ranks. The first step does not change
// the weights, and the gradients of the last step are never applied. In every step ranks still wait
// for a few numbers: the loss, requests to stop or to change the membership, and which parameters
// were used.
//
// All ranks always have the same weights. Gradients in flight are saved with a checkpoint.
//
// Failures:      in an elastic job (is_elastic) a step completes on all live ranks or on none. If a
//                rank dies while gradients are in flight, and a live rank has received their sum,
//                it sends the sum to the others. Otherwise the live ranks sum their own gradients
//                again, weighted for the whole batch, and the failed rank's samples of that step
//                are lost.
// Errors, thread safety, lifetime: as GradientSync.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/parallel/data/model_buffers.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/parallel/local/late_gradients.h"
#include "trireme/parallel/single_rank.h"

namespace trireme::parallel::local {

class Delayed final : public GradientSync,
                      public ElasticSync,
                      private CommonModel,
                      private SavedState {
 public:
  struct Options {
    SingleRank::Options own;
    std::vector<at::Tensor> buffers{};          // all ranks get rank 0's in every step
    FlatModel::Options flat;                    // is_elastic: ranks may fail, leave and join
    std::optional<comm::Group> commit_group{};  // see SyncOptions
    Faults* faults = nullptr;
  };
  explicit Delayed(Options options);

  void begin_step(const StepPlan& plan) override;
  bool begin_micro_batch(std::size_t index) override { return own_->begin_micro_batch(index); }
  void end_micro_batch() override { own_->end_micro_batch(); }
  void finish_reduction() override;
  void update(const Update& how) override;
  void drop() override;
  Roles roles() override { return {commit_, *this, *this}; }

  bool keeps_micro_batches() const override { return false; }
  void survive(const comm::Group& group, std::vector<int> places) override;
  void finish_failed_ranks() override {}
  void regroup(bool is_new) override;

 private:
  void join() override { late_.land(); }
  void settle() override { buffers_.broadcast(group_); }
  void check() override;
  std::string first_not_finite(bool has_gradients) const override {
    return own_->model().first_not_finite(has_gradients);
  }
  std::vector<checkpoint::Piece> pieces() override { return own_->saved().pieces(); }
  void restored() override { has_state_ = true; }
  std::vector<checkpoint::Piece> own_pieces() override { return late_.pieces(group_.rank() == 0); }
  void restore_own(const checkpoint::Checkpoint& from) override;

  void share(int source);

  comm::Group group_;
  data::ModelBuffers buffers_;
  LateGradients late_;
  std::unique_ptr<SingleRank> own_;
  StepPlan plan_;
  bool is_elastic_ = false;
  Faults* faults_ = nullptr;
  StepCommit commit_;
  bool has_state_ = false;  // that all ranks share
};

}  // namespace trireme::parallel::local
