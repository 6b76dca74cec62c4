#include "trireme/optim/rule/sgd.h"

#include "trireme/base/check.h"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {

Sgd::Sgd(const SgdConfig& config) : config_(config) {
  TRIREME_CHECK(!config.nesterov || config.momentum > 0,
                "Nesterov momentum requires a momentum above 0");
}

std::vector<std::string> Sgd::state_names() const {
  if (config_.momentum == 0) return {};
  return {"momentum_buffer"};
}

void Sgd::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
              Guard* guard) const {
  TRIREME_CHECK(step >= 1, "steps count from 1, not ", step);
  const std::size_t states = config_.momentum == 0 ? 0 : 1;
  // Zero times the momentum plus the gradient is the gradient, so the first step needs no special
  // case and state that starts later (for a new parameter) is correct too.
  run_slices(slices, states, guard, [&]<class T>(const Slice& slice, T) {
    const kernel::SgdNumbers<T> numbers{.scale = static_cast<T>(gradient_scale),
                                        .penalty = static_cast<T>(slice.weight_decay),
                                        .momentum = static_cast<T>(config_.momentum),
                                        .rate = static_cast<T>(slice.learning_rate),
                                        .is_nesterov = config_.nesterov};
    T* buffer = states == 0 ? nullptr : slice.state[0].mutable_data_ptr<T>();
    return [numbers, value = slice.value.mutable_data_ptr<T>(),
            gradient = slice.gradient.const_data_ptr<T>(),
            buffer](std::int64_t begin, std::int64_t count) {
      kernel::sgd(numbers, value + begin, gradient + begin,
                  buffer == nullptr ? nullptr : buffer + begin, count);
    };
  });
}

}  // namespace trireme::optim
