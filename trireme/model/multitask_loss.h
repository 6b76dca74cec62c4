// MultitaskLoss judges what a model with several heads says: cross entropy of a task's classes,
// the squared difference of its numbers, each times what the task counts.
//
// Weights: fixed, or learned: then the output has a column more for each task, s = log sigma^2, and
//          a sample adds exp(-s) loss + s for it (Kendall, Gal and Cipolla, 2018). The more unsure
//          a task is, the less it counts, and s keeps it from being unsure of all.
// Threads: any; it keeps nothing.

#pragma once

#include <vector>

#include "trireme/data/form.h"
#include "trireme/model/loss.h"

namespace trireme::model {

class MultitaskLoss final : public Loss {
 public:
  struct Options {
    std::vector<data::TaskForm> tasks;
    std::vector<double> weights = {};  // a task's each; empty: 1
    bool is_learned = false;
  };

  explicit MultitaskLoss(Options options);

  // output: (B, columns of all tasks), target: (B, tasks).
  at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const override;
  // A sample is one, whatever it is asked.
  std::int64_t terms(const at::Tensor& target) const override { return target.size(0); }

 private:
  Options options_;
};

// What a task's head says of each sample: columns of an output in which the heads of these tasks
// lie side by side.
at::Tensor head_of(const at::Tensor& output, const std::vector<data::TaskForm>& tasks,
                   std::size_t task);

// The loss of one task, a sum over samples, unweighted. `said`: its head's.
at::Tensor task_loss(const data::TaskForm& task, const at::Tensor& said, const at::Tensor& target);

}  // namespace trireme::model
