#include "trireme/optim/clip.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "trireme/base/check.h"

namespace trireme::optim {
namespace {

constexpr std::int64_t kGrid = 1 << 15;  // number of elements that are summed together

// Eight independent sums: one vector register, in an order that no compiler flag changes.
template <class Number>
double sum_squares(const Number* values, std::int64_t count) {
  double sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int k = 0; k < 8; ++k) {
      const double value = values[i + k];
      sums[k] += value * value;
    }
  }
  for (; i < count; ++i) sums[i % 8] += static_cast<double>(values[i]) * values[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

double squared_norm(const at::Tensor& values) {
  if (!values.is_cpu()) return squared_norm(std::span(&values, 1));
  const at::Tensor flat = values.detach().contiguous();
  const std::int64_t count = flat.numel();
  std::vector<double> sums(static_cast<std::size_t>((count + kGrid - 1) / kGrid));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, flat.scalar_type(), "norm", [&] {
    const scalar_t* data = flat.const_data_ptr<scalar_t>();
    at::parallel_for(0, static_cast<std::int64_t>(sums.size()), 4, [&](auto begin, auto end) {
      for (std::int64_t i = begin; i < end; ++i) {
        sums[static_cast<std::size_t>(i)] =
            sum_squares(data + i * kGrid, std::min(kGrid, count - i * kGrid));
      }
    });
  });
  double all = 0;
  for (const double sum : sums) all += sum;
  return all;
}

double squared_norm(std::span<const at::Tensor> many) {
  double all = 0;
  std::vector<at::Tensor> on_gpu;
  for (const at::Tensor& values : many) {
    if (values.is_cpu()) {
      all += squared_norm(values);
    } else if (values.numel() > 0) {
      on_gpu.push_back(values.detach());
    }
  }
  if (on_gpu.empty()) return all;
  const std::vector<at::Tensor> norms = at::_foreach_norm(on_gpu, 2, at::kDouble);
  return all + at::stack(norms).square().sum().item<double>();
}

double squared_norm(std::span<const Slice> slices) {
  std::vector<at::Tensor> gradients;
  for (const Slice& slice : slices) gradients.push_back(slice.gradient);
  return squared_norm(gradients);
}

Clipped clip_by_norm(double squares, double norm_max, double scale) {
  TRIREME_CHECK(norm_max >= 0, "a longest norm of ", norm_max);
  Clipped clipped{.norm = std::sqrt(squares) * std::abs(scale), .scale = scale};
  if (norm_max > 0 && clipped.norm > norm_max) {
    clipped.scale = static_cast<float>(scale * norm_max / (clipped.norm + 1e-6));
  }
  return clipped;
}

Clipped clip_by_norm(std::span<const Slice> slices, double norm_max, double scale,
                     const SumReducer& reduce) {
  const double mine = squared_norm(slices);
  return clip_by_norm(reduce ? reduce(mine) : mine, norm_max, scale);
}

void clip_by_value(std::span<const Slice> slices, double value_max, double scale) {
  TRIREME_CHECK(value_max > 0 && scale > 0, "a largest value of ", value_max, " at scale ", scale);
  const c10::NoGradGuard no_grad;
  for (const Slice& slice : slices) {
    slice.gradient.clamp_(-value_max / scale, value_max / scale);
  }
}

}  // namespace trireme::optim
