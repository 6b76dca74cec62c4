// Learner trains a torch::nn::Module on all ranks in a loop of the program's own, with any way to
// agree and any optimizer that a recipe can name, by the same words:
//
//   trireme::parallel::Learner learner(*net, group, {"sync.kind=shared", "optim.kind=adam"});
//   for (...) {
//     const double loss = learner.step([&] { return torch::mse_loss(net->forward(x), y); });
//   }
//
// Meaning:  what the function returns is the mean over this rank's samples; gradients are the mean
//           over ranks of theirs. Everybody begins with rank 0's weights.
// Order:    every rank makes the same steps.
// Failure:  InvalidInput, with all mistakes, for settings that [sync], [optim] and [schedule] do
//           not have; Diverged where the loss is not finite, with nothing updated; else what Group
//           throws.
// Threads:  the one that calls step().
// Lifetime: the module outlives it. Its parameters may be views of memory of the Learner's.

#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/codec/codec.h"
#include "trireme/comm/group.h"
#include "trireme/optim/schedule/schedule.h"
#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel {

class Learner {
 public:
  // `steps`: how many there will be in all, for schedules that end. `own_codec`: in place of one
  // that sync.codec.kind names, wherever one may be.
  Learner(torch::nn::Module& module, const comm::Group& group,
          const std::vector<std::string>& settings = {}, std::int64_t steps = 0,
          std::shared_ptr<const codec::Codec> own_codec = nullptr);
  ~Learner();
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  // Forward, backward, agreement and update. The mean of all ranks' losses.
  double step(const std::function<at::Tensor()>& loss);
  // Parameters and buffers are whole and current, for whoever looks at them between two steps.
  void settle();
  // The end: ranks that have weights of their own agree on one.
  void join();

  std::int64_t updates() const noexcept { return updates_; }

 private:
  StepPlan plan(double rate) const;

  std::shared_ptr<GradientSync> gradient_sync_;
  optim::Schedule schedule_{1e-3};
  int rank_ = 0;
  int ranks_ = 1;
  double clip_norm_ = 0;
  double clip_value_ = 0;
  std::int64_t updates_ = 0;
};

}  // namespace trireme::parallel
