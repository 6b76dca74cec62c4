#include "trireme/parallel/independent_replicas.h"

#include <c10/core/GradMode.h>

#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"

namespace trireme::parallel {
namespace {

StepCommit::Options of_replicas(const Replica& replica, StepCommit::Options options) {
  options.group = replica.commit_group.value_or(replica.all);
  options.replica = &replica.own->commit();
  return options;
}

}  // namespace

IndependentReplicas::IndependentReplicas(Replica replica, std::vector<at::Tensor> buffers,
                                         StepCommit::Options commit)
    : replica_(std::move(replica)),
      buffers_(std::move(buffers)),
      commit_(of_replicas(replica_, commit)) {
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
  commit_.begin(plan.step, weight_);
  own().begin_step(own_plan);
}

void IndependentReplicas::finish_reduction(Reduced reduced) {
  own().finish_reduction();
  commit_.contribute(std::move(reduced));
}

void IndependentReplicas::update(const Update& how) {
  Update weighted = how;
  weighted.scale *= weight_;
  if (own().commit().result().is_finite) {
    own().update(weighted);
  } else {
    own().drop();
  }
  commit_.finish();
}

void IndependentReplicas::drop() {
  own().drop();
  commit_.finish();
}

void IndependentReplicas::restored() {
  commit_.drain();
  own().saved().restored();
}

void IndependentReplicas::join() {
  const c10::NoGradGuard no_grad;
  commit_.drain();
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
  commit_.regroup(group);
}

}  // namespace trireme::parallel
