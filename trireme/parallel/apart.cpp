#include "trireme/parallel/apart.h"

#include <c10/core/GradMode.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/sameness.h"

namespace trireme::parallel {

Apart::Apart(std::shared_ptr<Solo> own, std::vector<at::Tensor> buffers, comm::Group group)
    : own_(std::move(own)), buffers_(std::move(buffers)), group_(std::move(group)) {
  const c10::NoGradGuard no_grad;
  expect_same_parameters(group_, own_->parameters());
  for (const checkpoint::Piece& piece : own_->pieces()) {
    comm::broadcast(group_, piece.data, 0, {.label = "first weights"}).wait();
  }
}

// To the replica, its own slots are all there are.
void Apart::begin_step(const StepPlan& plan) {
  StepPlan own = plan;
  own.slot_count = static_cast<int>(plan.slots.size());
  for (int i = 0; i < own.slot_count; ++i) own.slots[static_cast<std::size_t>(i)] = i;
  weight_ = static_cast<double>(plan.slot_count) / own.slot_count;
  if (own.early) own.early->scale *= weight_;
  own_->begin_step(own);
}

Gradients Apart::reduce(const Share& mine) {
  bool wish = false;
  return reduce(mine, wish);
}

Gradients Apart::reduce(const Share& mine, bool& wish) {
  Gradients own = own_->reduce({.loss = mine.loss * weight_, .is_stop_wanted = false});
  own.norm *= weight_;
  // A signal reaches all ranks of a job; each would stop at a step of its own. And each would go
  // back to a checkpoint by itself.
  std::int32_t common[] = {mine.is_stop_wanted ? 1 : 0,
                           own.is_finite && std::isfinite(own.loss) ? 0 : 1, wish ? 1 : 0};
  group_
      .all_reduce({common, std::size(common), comm::DType::Int32}, comm::ReduceOp::Max,
                  {.label = "wish to stop"})
      .wait();
  own.is_stop_wanted = common[0] != 0;
  own.is_finite = common[1] == 0;
  wish = common[2] != 0;
  return own;
}

void Apart::update(const Update& how) {
  Update own = how;
  own.scale *= weight_;
  own_->update(own);
}

void Apart::join() {
  const c10::NoGradGuard no_grad;
  for (const checkpoint::Piece& piece : own_->pieces()) {
    comm::all_reduce(group_, piece.data, comm::ReduceOp::Mean, {.label = "average"}).wait();
  }
  for (const at::Tensor& buffer : buffers_) {
    if (buffer.is_floating_point()) {
      comm::all_reduce(group_, buffer, comm::ReduceOp::Mean, {.label = "average"}).wait();
    } else {
      comm::broadcast(group_, buffer, 0, {.label = "buffers"}).wait();
    }
  }
}

}  // namespace trireme::parallel
