// MultitaskLoss is the loss of a model with several heads: cross entropy for a task with classes,
// squared difference for a task with numbers, each multiplied by the weight of the task.
//
// Weights:       fixed or learned. If learned, the output has one more column per task, s = log
//                sigma^2, and a sample adds exp(-s) loss + s for it (Kendall, Gal and Cipolla,
//                2018). A task with higher uncertainty has less weight, and the term s prevents the
//                uncertainty from growing without bound.
// Thread safety: any thread; it has no mutable state.

#pragma once

#include <vector>

#include "trireme/data/form.h"
#include "trireme/model/loss/loss.h"

namespace trireme::model {

class MultitaskLoss final : public Loss {
 public:
  struct Options {
    std::vector<data::TaskForm> tasks;
    std::vector<double> weights = {};  // one per task; empty: 1
    bool is_learned = false;
  };

  explicit MultitaskLoss(Options options);

  // output: (B, columns of all tasks), target: (B, tasks).
  at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const override;
  // A sample is one term, whatever its number of tasks.
  std::int64_t terms(const at::Tensor& target) const override { return target.size(0); }

 private:
  Options options_;
};

// The columns of one task's head, in an output in which the heads of these tasks are side by side.
at::Tensor head_of(const at::Tensor& output, const std::vector<data::TaskForm>& tasks,
                   std::size_t task);

// The loss of one task, summed over samples, without weight. `said` is the output of its head.
at::Tensor task_loss(const data::TaskForm& task, const at::Tensor& said, const at::Tensor& target);

}  // namespace trireme::model
