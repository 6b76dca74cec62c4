#include "trireme/optim/rule/sgd.h"

#include "trireme/base/check.h"
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

void Sgd::run(std::span<const Slice> slices, std::int64_t /*step*/, double gradient_scale,
              Guard* guard) const {
  if (config_.momentum == 0) {
    return run_slices(slices, guard, [&]<class T>(const Slice& slice, T) {
      return kernel::PlainSgd<T>{.scale = static_cast<T>(gradient_scale),
                                 .penalty = static_cast<T>(slice.weight_decay),
                                 .rate = static_cast<T>(slice.learning_rate)};
    });
  }
  // Zero times the momentum plus the gradient is the gradient, so the first step needs no special
  // case and state that starts later (for a new parameter) is correct too.
  run_slices(slices, guard, [&]<class T>(const Slice& slice, T) {
    return kernel::SgdUpdate<T>{.scale = static_cast<T>(gradient_scale),
                                .penalty = static_cast<T>(slice.weight_decay),
                                .momentum = static_cast<T>(config_.momentum),
                                .rate = static_cast<T>(slice.learning_rate),
                                .is_nesterov = config_.nesterov};
  });
}

}  // namespace trireme::optim
