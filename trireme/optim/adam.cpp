#include "trireme/optim/adam.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/scalar_tensor.h>

#include "trireme/base/check.h"
#include "trireme/optim/fused.h"

namespace trireme::optim {

Adam::Adam(const AdamConfig& config)
    : beta1_(config.beta1),
      beta2_(config.beta2),
      epsilon_(config.epsilon),
      is_decay_apart_(false) {}

Adam::Adam(const AdamwConfig& config)
    : beta1_(config.beta1), beta2_(config.beta2), epsilon_(config.epsilon), is_decay_apart_(true) {}

void Adam::update(std::span<const Slice> slices, std::int64_t step, double gradient_scale) const {
  TRIREME_CHECK(step >= 1, "steps count from 1, not ", step);
  const at::Tensor count = at::scalar_tensor(static_cast<double>(step), at::kFloat);
  for_each_call(slices, 2, gradient_scale, [&](FusedCall& call) {
    const std::vector<at::Tensor> counts(call.values.size(), count);
    const auto run = [&](auto&& kernel) {
      kernel(call.values, call.gradients, call.state[0], call.state[1], at::TensorList(), counts,
             call.learning_rate, beta1_, beta2_, call.weight_decay, epsilon_, /*amsgrad=*/false,
             /*maximize=*/false);
    };
    if (is_decay_apart_) {
      run([](auto&&... all) { at::_fused_adamw_(all...); });
    } else {
      run([](auto&&... all) { at::_fused_adam_(all...); });
    }
  });
}

}  // namespace trireme::optim
