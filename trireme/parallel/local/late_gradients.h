// LateGradients are the gradients that Delayed applies one step late: those of the last step, which
// are summed over all ranks while the next step runs, and those whose sum is there to be applied.
//
//   late.land();                    // waits for the sum of the last step's gradients
//   late.replace(plan, is_used);    // sends those of this step
//   if (late.give()) ...update();   // the last step's sum is the parameters' gradients now
//
// If a rank is lost, complete() finds the sum that was in flight: a rank that has it sends it to
// the others, or all ranks sum their own gradients again, weighted for the whole batch. A new rank
// has none and contributes zeros.
//
// Errors:        what Group throws. In an elastic job replace() ignores the loss of a rank.
// Thread safety: one thread at a time. Every function that waits for or sends gradients is a
//                collective.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "trireme/parallel/local/flat_model.h"
#include "trireme/parallel/local/state_reports.h"

namespace trireme::parallel::local {

class LateGradients {
 public:
  explicit LateGradients(FlatModel::Options options);

  // Makes progress without waiting.
  void poll();
  void land();
  bool is_there() const noexcept { return last_.is_there; }
  // Of the sum over all replicas, after land(); see FlatModel.
  double squared_norm() const { return flat_.squared_norm(last_.flat); }
  Traffic take_traffic() { return std::exchange(traffic_, {}); }
  // Takes the parameters' gradients as those of the last step, and sends them; what was there
  // becomes ready for give(). `is_used`: by parameter, whether any rank used it.
  void replace(const StepPlan& plan, std::vector<bool> is_used);
  // Makes the sum that is ready the parameters' gradients. False if there is none.
  bool give();
  // The last step's gradients are not applied.
  void drop();

  // What is saved: residuals of the codec by every rank, and the sum by the first one.
  std::vector<checkpoint::Piece> pieces(bool is_first);
  void restore(const checkpoint::Checkpoint& from);

  // Gives up the sum in flight, and sends nothing until resume().
  void pause();
  void resume() noexcept { is_paused_ = false; }
  void regroup(const comm::Group& group) { flat_.regroup(group); }
  // What complete() needs to know of every rank.
  std::vector<std::int64_t> report() const;
  void complete(const comm::Group& group, const StateReports& all);
  // All ranks get the gradients of the source.
  void share(const comm::Group& group, int source);

 private:
  // Gradients of one step: this rank's, then their sum over all ranks.
  struct Gradients {
    at::Tensor flat;
    std::vector<bool> is_used{};
    bool is_there = false;  // there are gradients to apply
    bool is_whole = false;  // the sum over all ranks has arrived
    std::int64_t step = 0;
    int micro_batches = 0;  // of this rank; micro_batch_count: of all ranks
    int micro_batch_count = 1;
  };

  void launch();

  FlatModel flat_;
  bool is_elastic_;
  Gradients last_;   // of the previous step, in flight or complete
  Gradients ready_;  // to be applied
  at::Tensor mine_;  // elastic: what this rank sent last, to send it again
  bool is_travelling_ = false;
  bool is_paused_ = false;
  Traffic traffic_;  // not yet reported
};

}  // namespace trireme::parallel::local
