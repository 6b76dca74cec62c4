#include "trireme/optim/rule/adagrad.h"

#include "trireme/optim/run_slices.h"

namespace trireme::optim {

void Adagrad::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                  Guard* guard) const {
  const double fade = 1 + static_cast<double>(step - 1) * config_.lr_decay;
  run_slices(slices, guard, [&]<class T>(const Slice& slice, T) {
    return kernel::AdagradUpdate<T>{.scale = static_cast<T>(gradient_scale),
                                    .penalty = static_cast<T>(slice.weight_decay),
                                    .rate = static_cast<T>(slice.learning_rate / fade),
                                    .epsilon = static_cast<T>(config_.eps)};
  });
}

}  // namespace trireme::optim
