// Delayed is the agreement of ranks that apply gradients one step late: a step's gradients travel
// while the next one is computed, and nobody waits for them.
//
// In step t weights move by the gradients of step t - 1, added up over all ranks; in the first one
// they do not move, and those of the last step are never applied. What is still waited for in every
// step is a few numbers: loss, wishes, which parameters were used.
//
// All ranks have the same weights at all times. Gradients that are on their way are saved with a
// checkpoint.
//
// Deaths: where ranks come and go (is_elastic), a step ends for all who live or for none of them.
// Gradients on their way when a rank dies are everybody's, if anybody who lives has got them;
// otherwise those who live add up theirs again, weighted for all, and the dead one's samples of
// that step are lost with it.
//
// Threads, failure, lifetime: as GradientSync.

#pragma once

#include <memory>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/parallel/local/flat_model.h"
#include "trireme/parallel/solo.h"

namespace trireme::parallel::local {

class Delayed final : public GradientSync,
                      public ElasticSync,
                      private CommonModel,
                      private SavedState {
 public:
  struct Options {
    Solo::Options own;
    std::vector<at::Tensor> buffers{};  // rank 0's are everybody's, from step to step
    FlatModel::Options flat;            // is_elastic: ranks may come and go
    Faults* faults = nullptr;
  };
  explicit Delayed(Options options);

  void begin_step(const StepPlan& plan) override;
  void begin_micro_batch(std::size_t index) override { own_->begin_micro_batch(index); }
  void end_micro_batch() override { own_->end_micro_batch(); }
  Gradients reduce(const Share& mine) override;
  double total(double mine) override;
  void update(const Update& how) override;
  void drop() override;
  CommonModel& model() override { return *this; }
  SavedState& saved() override { return *this; }

  StepStatus step_status() const override { return status_; }
  bool keeps_micro_batches() const override { return false; }
  void survive(const comm::Group& group, std::vector<int> places) override;
  std::optional<Gradients> recall(std::int64_t step, std::span<const Prepared> told) override;
  void finish_failed_ranks() override {}
  void regroup(bool is_new) override;

 private:
  void join() override { land(); }
  void settle() override { broadcast_buffers(); }
  void check() override;
  std::string first_not_finite() const override { return own_->model().first_not_finite(); }
  std::vector<checkpoint::Piece> pieces() override { return own_->saved().pieces(); }
  void restored() override { has_state_ = true; }
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;

  // Gradients of one step, of all ranks once they have landed.
  struct Late {
    at::Tensor flat;
    std::vector<bool> is_used;
    bool is_there = false;  // otherwise there are none to apply
    bool is_whole = false;  // they have landed
    std::int64_t step = 0;
    int micro_batches = 0;  // of this rank, and of all
    int micro_batch_count = 1;
  };
  // What a rank brings to a new group.
  struct Report {
    bool has_state = false;
    bool is_there = false;
    bool is_whole = false;
    std::int64_t micro_batches = 0;
    std::int64_t step = 0;
  };

  void land();
  Gradients take(std::span<const double> figures);
  void launch();
  std::vector<Report> reports(bool is_new) const;
  void complete(const std::vector<Report>& all);
  void share(const std::vector<Report>& all);
  void broadcast_buffers();

  comm::Group group_;
  std::vector<at::Tensor> buffers_;
  FlatModel flat_;
  std::unique_ptr<Solo> own_;
  StepPlan plan_;
  Late last_;   // of the step before, on its way or landed
  Late ready_;  // what update() applies
  bool is_travelling_ = false;
  bool is_elastic_ = false;
  Faults* faults_ = nullptr;
  at::Tensor mine_;  // what this rank sent last, where it may have to send it again
  StepStatus status_;
  Gradients all_;                          // of this step
  std::vector<at::Tensor> first_buffers_;  // as they were when the step began
  bool is_surviving_ = false;              // from survive() to regroup()
  bool has_state_ = false;                 // that all ranks share
};

}  // namespace trireme::parallel::local
