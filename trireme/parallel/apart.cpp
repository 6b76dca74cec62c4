#include "trireme/parallel/apart.h"

#include <c10/core/GradMode.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/sameness.h"

namespace trireme::parallel {

Apart::Apart(Replica replica, std::vector<at::Tensor> buffers)
    : replica_(std::move(replica)), buffers_(std::move(buffers)) {
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
  // Small, and waited for: before whatever else is on its way. A signal reaches all ranks of a job;
  // each would stop at a step of its own. And each would go back to a checkpoint by itself.
  std::int32_t common[] = {mine.is_stop_wanted ? 1 : 0,
                           found.is_finite && std::isfinite(found.loss) ? 0 : 1, wish ? 1 : 0};
  replica_.all
      .all_reduce({common, std::size(common), comm::DType::Int32}, comm::ReduceOp::Max,
                  {.label = "wish to stop", .priority = 1})
      .wait();
  found.is_stop_wanted = common[0] != 0;
  found.is_finite = common[1] == 0;
  wish = common[2] != 0;
  return found;
}

void Apart::update(const Update& how) {
  Update weighted = how;
  weighted.scale *= weight_;
  own().update(weighted);
}

void Apart::join() {
  const c10::NoGradGuard no_grad;
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
