#include "trireme/optim/rule/lamb.h"

#include <c10/core/GradMode.h>

#include <cmath>

#include "trireme/optim/clip.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {

void Lamb::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
               Guard* /*guard*/) const {
  const c10::NoGradGuard no_grad;
  for (const Slice& slice : slices) {
    check_whole_slice(slice, 2);
    update_one(slice, step, gradient_scale);
  }
}

void Lamb::update_one(const Slice& slice, std::int64_t step, double gradient_scale) const {
  const at::Tensor gradient =
      gradient_scale == 1 ? slice.gradient : slice.gradient * gradient_scale;
  const at::Tensor &mean = slice.state[0], &square = slice.state[1];
  mean.lerp_(gradient, 1 - config_.betas[0]);
  square.mul_(config_.betas[1]).addcmul_(gradient, gradient, 1 - config_.betas[1]);
  const double correction1 = 1 - std::pow(config_.betas[0], static_cast<double>(step));
  const double correction2 = 1 - std::pow(config_.betas[1], static_cast<double>(step));
  at::Tensor direction = square.div(correction2).sqrt_().add_(config_.eps);
  direction = mean.div(correction1).div_(direction).add_(slice.value, slice.weight_decay);
  double ratio = 1;
  if (slice.sizes.size() > 1 || config_.adapt_all) {
    const double length = std::sqrt(squared_norm(slice.value));
    const double step_length = std::sqrt(squared_norm(direction));
    if (length > 0 && step_length > 0) ratio = length / step_length;
  }
  slice.value.sub_(direction, slice.learning_rate * ratio);
}

}  // namespace trireme::optim
