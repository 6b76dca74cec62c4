#include "trireme/parallel/apart.h"

#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/sameness.h"

namespace trireme::parallel {

Apart::Apart(Replica replica, std::vector<at::Tensor> buffers, std::int64_t slack)
    : replica_(std::move(replica)), buffers_(std::move(buffers)), votes_(replica_.all, slack) {
  const c10::NoGradGuard no_grad;
  expect_same_parameters(replica_.all, replica_.parameters);
  for (const checkpoint::Piece& piece : own().pieces()) {
    comm::broadcast(replica_.across, piece.data, 0, {.label = "first weights"}).wait();
  }
  own().restored();
}

void Apart::begin_step(const StepPlan& plan) {
  StepPlan own_plan = replica_.plan_of(plan);
  weight_ = static_cast<double>(plan.slot_count) / own_plan.slot_count;
  if (own_plan.early) own_plan.early->scale *= weight_;
  own().begin_step(own_plan);
}

Gradients Apart::reduce(const Share& mine) {
  bool wish = false;
  return reduce(mine, wish);
}

Gradients Apart::reduce(const Share& mine, bool& wish) {
  Gradients found = own().reduce({.loss = mine.loss * weight_, .is_stop_wanted = false});
  found.norm *= weight_;
  is_sound_ = found.is_finite && std::isfinite(found.loss);
  // A signal reaches all ranks of a job; each would stop at a step of its own. And each would go
  // back to a checkpoint by itself.
  const Votes::Ballot told =
      votes_.cast({mine.is_stop_wanted ? 1 : 0, is_sound_ ? 0 : 1, wish ? 1 : 0})
          .value_or(Votes::Ballot{});
  found.is_stop_wanted = told[0] != 0;
  found.is_finite = told[1] == 0;
  wish = told[2] != 0;
  // With slack, what the others do not know of yet must not be known to this rank's caller.
  if (is_sound_) sound_loss_ = found.loss;
  if (votes_.slack() > 0) found.loss = sound_loss_;
  return found;
}

void Apart::update(const Update& how) {
  if (!is_sound_) return own().drop();
  Update weighted = how;
  weighted.scale *= weight_;
  own().update(weighted);
}

void Apart::restored() {
  votes_.drain();
  own().restored();
}

void Apart::join() {
  const c10::NoGradGuard no_grad;
  votes_.drain();
  for (const checkpoint::Piece& piece : own().pieces()) {
    comm::all_reduce(replica_.across, piece.data, comm::ReduceOp::Mean, {.label = "average"})
        .wait();
  }
  own().restored();
  average_buffers();
}

void Apart::average_buffers() {
  for (const at::Tensor& buffer : buffers_) {
    if (buffer.is_floating_point()) {
      comm::all_reduce(replica_.across, buffer, comm::ReduceOp::Mean, {.label = "buffers"}).wait();
    } else {
      comm::broadcast(replica_.across, buffer, 0, {.label = "buffers"}).wait();
    }
  }
}

}  // namespace trireme::parallel
