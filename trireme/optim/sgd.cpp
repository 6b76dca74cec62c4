#include "trireme/optim/sgd.h"

#include <ATen/ops/_fused_sgd.h>

#include "trireme/base/check.h"
#include "trireme/optim/fused.h"

namespace trireme::optim {

Sgd::Sgd(const SgdConfig& config) : config_(config) {
  TRIREME_CHECK(!config.nesterov || config.momentum > 0, "Nesterov looks along a momentum of 0");
}

std::vector<std::string> Sgd::state_names() const {
  if (config_.momentum == 0) return {};
  return {"momentum_buffer"};
}

void Sgd::update(std::span<const Slice> slices, std::int64_t step, double gradient_scale) const {
  TRIREME_CHECK(step >= 1, "steps count from 1, not ", step);
  const std::size_t states = config_.momentum == 0 ? 0 : 1;
  for_each_call(slices, states, gradient_scale, [&](FusedCall& call) {
    // Zeros times the momentum plus the gradient are the gradient: no first step to tell apart, so
    // that state which begins later (a new parameter) is right too.
    at::_fused_sgd_(call.values, call.gradients,
                    states ? at::TensorList(call.state[0]) : at::TensorList(), call.weight_decay,
                    config_.momentum, call.learning_rate, /*dampening=*/0.0, config_.nesterov,
                    /*maximize=*/false, /*is_first_step=*/false);
  });
}

}  // namespace trireme::optim
