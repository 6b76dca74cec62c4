#include "trireme/optim/rule/muon.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/matmul.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "trireme/optim/groups.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {
namespace {

// Chosen by Muon's author for the steepest slope at zero: singular values end near 1, not exactly
// at 1.
constexpr double kA = 3.4445, kB = -4.775, kC = 2.0315;
constexpr int kIterations = 5;
constexpr double kNormMin = 1e-7;

// Approximates the nearest matrix with orthogonal rows (or columns, if it is tall).
at::Tensor made_orthogonal(const at::Tensor& matrix) {
  const bool is_tall = matrix.size(0) > matrix.size(1);
  at::Tensor x = matrix.to(at::kBFloat16);
  if (is_tall) x = x.t();
  x = x.div(x.norm().clamp_min(kNormMin));
  for (int i = 0; i < kIterations; ++i) {
    const at::Tensor gram = at::matmul(x, x.t());
    const at::Tensor polynomial = at::addmm(gram, gram, gram, kB, kC);
    x = at::addmm(x, polynomial, x, kA);
  }
  return is_tall ? x.t() : x;
}

AdamwConfig adam_of(const MuonConfig& config) {
  return {.lr = config.lr, .betas = config.adam_betas, .weight_decay = config.weight_decay};
}

}  // namespace

Muon::Muon(const MuonConfig& config) : config_(config), adam_(adam_of(config)) {}

bool Muon::is_matrix(const Slice& slice) const {
  if (slice.sizes.size() < 2) return false;
  return std::none_of(config_.adam_names.begin(), config_.adam_names.end(),
                      [&](const std::string& pattern) { return is_match(pattern, slice.name); });
}

void Muon::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
               Guard* /*guard*/) const {
  const c10::NoGradGuard no_grad;
  for (const Slice& slice : slices) {
    check_whole_slice(slice, 2);
    if (slice.value.numel() == 0) continue;
    if (is_matrix(slice)) {
      update_matrix(slice, gradient_scale);
    } else {
      adam_.update({&slice, 1}, step, gradient_scale);
    }
  }
}

void Muon::update_matrix(const Slice& slice, double gradient_scale) const {
  const std::int64_t rows = slice.sizes[0], columns = slice.value.numel() / rows;
  const at::Tensor gradient =
      (gradient_scale == 1 ? slice.gradient : slice.gradient * gradient_scale)
          .view({rows, columns});
  const at::Tensor buffer = slice.state[0].view({rows, columns});
  buffer.lerp_(gradient, 1 - config_.momentum);
  const at::Tensor move =
      made_orthogonal(config_.nesterov ? gradient.lerp(buffer, config_.momentum) : buffer);
  const double ratio =
      config_.match_adam
          ? 0.2 * std::sqrt(static_cast<double>(std::max(rows, columns)))
          : std::sqrt(std::max(1.0, static_cast<double>(rows) / static_cast<double>(columns)));
  slice.value.mul_(1 - slice.learning_rate * slice.weight_decay);
  slice.value.view({rows, columns}).sub_(move, slice.learning_rate * ratio);
}

}  // namespace trireme::optim
