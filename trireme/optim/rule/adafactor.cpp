#include "trireme/optim/rule/adafactor.h"

#include <ATen/ops/matmul.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "trireme/optim/clip.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {
namespace {

double epsilon_of(const at::Tensor& values) {
  return values.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon()
                                             : std::numeric_limits<float>::epsilon();
}

double root_mean_square(const at::Tensor& values) {
  return std::sqrt(squared_norm(values) / static_cast<double>(values.numel()));
}

// Updates the running mean of the squared gradients along the last dim or the one before it. It is
// stored in the first elements of `state`.
at::Tensor running_mean(const at::Tensor& squares, std::int64_t dim, const at::Tensor& state,
                        double share) {
  const at::Tensor mean = squares.mean({dim}, /*keepdim=*/true);
  at::Tensor kept = state.narrow(0, 0, mean.numel()).view(mean.sizes());
  return kept.lerp_(mean, share);
}

}  // namespace

void Adafactor::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                    Guard* /*guard*/) const {
  const c10::NoGradGuard no_grad;
  for (const Slice& slice : slices) {
    check_whole_slice(slice, 2);
    if (slice.value.numel() > 0) update_one(slice, step, gradient_scale);
  }
}

void Adafactor::update_one(const Slice& slice, std::int64_t step, double gradient_scale) const {
  const at::Tensor gradient =
      (gradient_scale == 1 ? slice.gradient : slice.gradient * gradient_scale).view(slice.sizes);
  const auto number = static_cast<double>(step);
  const double share = std::pow(number, config_.beta2_decay);
  const double rate = std::min(slice.learning_rate, 1 / std::sqrt(number)) *
                      std::max(config_.eps, root_mean_square(slice.value));
  if (slice.weight_decay != 0) slice.value.mul_(1 - slice.learning_rate * slice.weight_decay);
  const at::Tensor squares = gradient * gradient;
  const double least = epsilon_of(slice.value);
  at::Tensor variance;
  if (gradient.dim() > 1) {
    const at::Tensor rows = running_mean(squares, -1, slice.state[0], share);
    const at::Tensor columns = running_mean(squares, -2, slice.state[1], share);
    variance = at::matmul(rows, columns);
    variance.div_(rows.mean({-2}, /*keepdim=*/true).clamp_min_(least));
  } else {
    variance = slice.state[0].view(slice.sizes).lerp_(squares, share).clone();
  }
  const at::Tensor move = variance.clamp_min_(least * least).rsqrt_().mul_(gradient);
  const double excess = std::max(1.0, root_mean_square(move) / config_.clip_threshold);
  slice.value.sub_(move.view({-1}), rate / excess);
}

}  // namespace trireme::optim
