#include "trireme/parallel/learner.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/optim/clip.h"
#include "trireme/optim/kinds.h"
#include "trireme/optim/optim_config.h"
#include "trireme/parallel/kinds.h"

namespace trireme::parallel {
namespace {

config::Config read_settings(const std::vector<std::string>& settings,
                             const Strategies& strategies) {
  config::Schema schema;
  optim::add_optim_sections(schema);
  strategies.add_section(schema);
  return config::read_config(schema, {.overrides = settings});
}

void take_first_weights(const torch::nn::Module& module, const comm::Group& group) {
  for (const at::Tensor& parameter : module.parameters()) {
    comm::broadcast(group, parameter.detach(), 0, {.label = "first weights"}).wait();
  }
  for (const at::Tensor& buffer : module.buffers()) {
    comm::broadcast(group, buffer, 0, {.label = "first buffers"}).wait();
  }
}

}  // namespace

Learner::Learner(torch::nn::Module& module, const comm::Group& group,
                 const std::vector<std::string>& settings, std::int64_t steps,
                 std::shared_ptr<const codec::Codec> own_codec, const Strategies& strategies)
    : replica_(group.rank()), replicas_(group.size()) {
  const config::Config config = read_settings(settings, strategies);
  const auto& sync = config.get<SyncConfig>(kSyncSection);
  const auto& rule = config.get<optim::OptimConfig>(optim::kOptimSection);
  if (rule.layer_decay < 1 || rule.unfreeze_every > 0) {
    throw Error(ErrorCode::InvalidInput,
                "optim.layer_decay and optim.unfreeze_every are supported only in recipes; use "
                "optim.lr_factors to set learning rates by parameter name");
  }
  clip_norm_ = rule.max_grad_norm;
  clip_value_ = rule.max_grad_value;
  schedule_ = optim::make_schedule(config, steps);
  take_first_weights(module, group);
  gradient_sync_ = make_gradient_sync({.parameters = parameters_of(module, treatment_of(config)),
                                       .buffers = module.buffers(),
                                       .optimizer = optim::make_optimizer(config),
                                       .group = group,
                                       .stretches = stretches_of(config, strategies),
                                       .is_sliced_in_host = sync.is_sliced_in_host,
                                       .bucket_size = static_cast<std::int64_t>(sync.bucket.count),
                                       .codec = sync.codec,
                                       .own_codec = std::move(own_codec)},
                                      strategies);
}

Learner::~Learner() = default;

StepPlan Learner::plan(double rate) const {
  StepPlan plan{.step = updates_, .micro_batch_count = replicas_, .micro_batches = {replica_}};
  plan.owners.resize(static_cast<std::size_t>(replicas_));
  std::iota(plan.owners.begin(), plan.owners.end(), 0);
  plan.is_norm_wanted = clip_norm_ > 0;
  plan.max_grad_value = clip_value_;
  if (!plan.is_norm_wanted && clip_value_ == 0) {
    plan.early = Update{.number = updates_ + 1, .learning_rate = rate};
  }
  return plan;
}

double Learner::step(const std::function<at::Tensor()>& loss) {
  const double rate = schedule_.rate(updates_);
  gradient_sync_->begin_step(plan(rate));
  gradient_sync_->begin_micro_batch(0);
  const at::Tensor mine = loss() / replicas_;
  const bool is_read_first = gradient_sync_->passes().updates_early;
  if (!is_read_first || std::isfinite(mine.item<double>())) mine.backward();
  gradient_sync_->end_micro_batch();
  gradient_sync_->finish_reduction();
  const CommitResult all = gradient_sync_->commit().prepare({.loss = mine.item<double>()});
  if (!std::isfinite(all.loss)) {
    gradient_sync_->drop();
    throw Error(ErrorCode::Diverged, "step " + std::to_string(updates_) +
                                         ": the loss is not finite; try a lower "
                                         "optim.lr or optim.max_grad_norm=1");
  }
  const optim::Clipped clipped = optim::clip_by_norm(all.norm * all.norm, clip_norm_);
  gradient_sync_->update({.number = ++updates_, .learning_rate = rate, .scale = clipped.scale});
  return all.loss;
}

void Learner::settle() {
  gradient_sync_->model().settle();
}

void Learner::join() {
  gradient_sync_->model().join();
  gradient_sync_->model().settle();
}

}  // namespace trireme::parallel
