#include "trireme/optim/rule/adam.h"

#include <cmath>

#include "trireme/optim/run_slices.h"

namespace trireme::optim {

Adam::Adam(const AdamConfig& config)
    : beta1_(config.betas[0]),
      beta2_(config.betas[1]),
      epsilon_(config.eps),
      is_decay_apart_(false) {}

Adam::Adam(const AdamwConfig& config)
    : beta1_(config.betas[0]),
      beta2_(config.betas[1]),
      epsilon_(config.eps),
      is_decay_apart_(true) {}

template <class T>
kernel::AdamUpdate<T> Adam::rule_of(const Slice& slice, std::int64_t step,
                                    double gradient_scale) const {
  const double correction1 = 1 - std::pow(beta1_, static_cast<double>(step));
  const double correction2 = 1 - std::pow(beta2_, static_cast<double>(step));
  const double decay = slice.learning_rate * slice.weight_decay;
  return {.scale = static_cast<T>(gradient_scale),
          .decay = static_cast<T>(is_decay_apart_ ? 1 - decay : 1),
          .penalty = static_cast<T>(is_decay_apart_ ? 0 : slice.weight_decay),
          .keep1 = static_cast<T>(1 - beta1_),
          .beta2 = static_cast<T>(beta2_),
          .keep2 = static_cast<T>(1 - beta2_),
          .step_size = static_cast<T>(slice.learning_rate / correction1),
          .correction = static_cast<T>(1 / std::sqrt(correction2)),
          .epsilon = static_cast<T>(epsilon_)};
}

void Adam::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
               Guard* guard) const {
  run_slices(slices, guard, [&]<class T>(const Slice& slice, T) {
    return rule_of<T>(slice, step, gradient_scale);
  });
}

}  // namespace trireme::optim
