// Learner trains a torch::nn::Module on all ranks in the program's own training loop, with any
// synchronization strategy and any optimizer of a recipe, under the same setting names:
//
//   trireme::parallel::Learner learner(*net, group, {"sync.kind=shared", "optim.kind=adam"});
//   for (...) {
//     const double loss = learner.step([&] { return torch::mse_loss(net->forward(x), y); });
//   }
//
// The function returns the mean loss over this rank's samples; gradients are the mean of the ranks'
// gradients. All ranks begin with rank 0's weights.
//
// Ordering:      every rank calls step() the same number of times.
// Errors:        InvalidInput, with all mistakes, for settings that [sync], [optim] and [schedule]
//                do not have; Diverged if the loss is not finite, and then nothing is updated; else
//                what Group throws.
// Thread safety: the thread that calls step().
// Lifetime:      the module must outlive the Learner. Its parameters may be views of the Learner's
//                memory.

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
#include "trireme/parallel/strategies.h"

namespace trireme::parallel {

class Learner {
 public:
  // `steps`: the total number of steps, for schedules that need it. `own_codec` replaces the codec
  // of sync.codec.kind; it may be used wherever that may be. `strategies` are those that sync.kind
  // can name.
  Learner(torch::nn::Module& module, const comm::Group& group,
          const std::vector<std::string>& settings = {}, std::int64_t steps = 0,
          std::shared_ptr<const codec::Codec> own_codec = nullptr,
          const Strategies& strategies = built_in_strategies());
  ~Learner();
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  // Forward, backward, gradient synchronization and update. Returns the mean of all ranks' losses.
  double step(const std::function<at::Tensor()>& loss);
  // Makes this rank's parameters and buffers complete and current. A collective.
  void settle();
  // The end of training: replicas that differ become one. A collective.
  void join();

  std::int64_t updates() const noexcept { return updates_; }

 private:
  StepPlan plan(double rate) const;

  std::shared_ptr<GradientSync> gradient_sync_;
  optim::Schedule schedule_{1e-3};
  int replica_ = 0;  // each rank is one
  int replicas_ = 1;
  double clip_norm_ = 0;
  double clip_value_ = 0;
  std::int64_t updates_ = 0;
};

}  // namespace trireme::parallel
