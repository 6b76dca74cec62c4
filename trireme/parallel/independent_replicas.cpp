#include "trireme/parallel/independent_replicas.h"

#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"

namespace trireme::parallel {

IndependentReplicas::IndependentReplicas(Replica replica, std::vector<at::Tensor> buffers,
                                         std::int64_t slack)
    : replica_(std::move(replica)), buffers_(std::move(buffers)), votes_(replica_.all, slack) {
  if (replica_.is_led()) return;
  const c10::NoGradGuard no_grad;
  expect_same_parameters(replica_.all, replica_.parameters);
  for (const checkpoint::Piece& piece : own().saved().pieces()) {
    comm::broadcast(replica_.across, piece.data, 0, {.label = "first weights"}).wait();
  }
  own().saved().restored();
}

void IndependentReplicas::begin_step(const StepPlan& plan) {
  StepPlan own_plan = replica_.plan_of(plan);
  weight_ = static_cast<double>(plan.micro_batch_count) / own_plan.micro_batch_count;
  if (own_plan.early) own_plan.early->scale *= weight_;
  own().begin_step(own_plan);
}

Gradients IndependentReplicas::reduce(const Share& mine) {
  bool wish = false;
  return reduce(mine, wish);
}

Gradients IndependentReplicas::reduce(const Share& mine, bool& wish) {
  Share weighted{.loss = mine.loss * weight_, .reported = mine.reported};
  for (double& sum : weighted.reported) sum *= weight_;
  found_ = own().reduce(weighted);
  found_.norm *= weight_;
  is_sound_ = found_.is_finite && std::isfinite(found_.loss);
  // Without a vote, ranks that receive the same signal would stop in different steps, and a rank
  // with a step that is not finite would return to a checkpoint alone.
  const Votes::Ballot told = votes_
                                 .cast({mine.is_stop_wanted ? 1 : 0, is_sound_ ? 0 : 1,
                                        wish ? 1 : 0, mine.is_change_wanted ? 1 : 0})
                                 .value_or(Votes::Ballot{});
  // With slack the other ranks do not know yet that this step is not finite. All callers must act
  // in the same step, so this one gets the last finite loss until the vote arrives.
  if (is_sound_) sound_loss_ = found_.loss;
  if (votes_.slack() > 0) found_.loss = sound_loss_;
  return recall(std::vector<double>(told.begin(), told.end()), wish);
}

Gradients IndependentReplicas::recall(std::vector<double> figures, bool& wish) {
  figures_ = std::move(figures);
  Gradients all = found_;
  all.is_stop_wanted = figures_.at(0) != 0;
  all.is_finite = figures_.at(1) == 0;
  wish = figures_.at(2) != 0;
  all.is_change_wanted = figures_.at(3) != 0;
  return all;
}

void IndependentReplicas::update(const Update& how) {
  if (!is_sound_) return own().drop();
  Update weighted = how;
  weighted.scale *= weight_;
  own().update(weighted);
}

void IndependentReplicas::restored() {
  votes_.drain();
  own().saved().restored();
}

void IndependentReplicas::join() {
  const c10::NoGradGuard no_grad;
  votes_.drain();
  for (const checkpoint::Piece& piece : own().saved().pieces()) {
    comm::all_reduce(replica_.across, piece.data, comm::ReduceOp::Mean, {.label = "average"})
        .wait();
  }
  own().saved().restored();
  set_buffers(mean_of_buffers());
}

std::vector<at::Tensor> IndependentReplicas::mean_of_buffers() const {
  std::vector<at::Tensor> means;
  for (const at::Tensor& buffer : buffers_) {
    const at::Tensor& mean = means.emplace_back(buffer.clone());
    if (mean.is_floating_point()) {
      comm::all_reduce(replica_.across, mean, comm::ReduceOp::Mean, {.label = "buffers"}).wait();
    } else {
      comm::broadcast(replica_.across, mean, 0, {.label = "buffers"}).wait();
    }
    if (replica_.is_led()) comm::broadcast(replica_.inside, mean, 0, {.label = "buffers"}).wait();
  }
  return means;
}

void IndependentReplicas::set_buffers(const std::vector<at::Tensor>& values) const {
  for (std::size_t i = 0; i < values.size(); ++i) buffers_[i].copy_(values[i]);
}

void IndependentReplicas::regroup(const comm::Group& group, const std::vector<int>& places) {
  replica_.regroup(group, places);
  votes_ = Votes(group, votes_.slack());
}

}  // namespace trireme::parallel
