#include "trireme/optim/rule/lars.h"

#include <c10/core/GradMode.h>

#include <cmath>

#include "trireme/optim/clip.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {

double Lars::ratio_of(const Slice& slice, double gradient_scale) const {
  if (slice.sizes.size() <= 1 && !config_.adapt_all) return 1;
  const double length = std::sqrt(squared_norm(slice.value));
  const double slope = std::sqrt(squared_norm(slice.gradient)) * std::abs(gradient_scale);
  if (length == 0 || slope == 0) return 1;
  return config_.trust_coefficient * length / (slope + slice.weight_decay * length);
}

void Lars::run(std::span<const Slice> slices, std::int64_t /*step*/, double gradient_scale,
               Guard* /*guard*/) const {
  const c10::NoGradGuard no_grad;
  for (const Slice& slice : slices) {
    check_whole_slice(slice, 1);
    const double rate = slice.learning_rate * ratio_of(slice, gradient_scale);
    const at::Tensor& buffer = slice.state[0];
    buffer.mul_(config_.momentum).add_(slice.gradient, rate * gradient_scale);
    if (slice.weight_decay != 0) buffer.add_(slice.value, rate * slice.weight_decay);
    slice.value.sub_(buffer);
  }
}

}  // namespace trireme::optim
