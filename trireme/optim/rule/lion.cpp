#include "trireme/optim/rule/lion.h"

#include "trireme/optim/run_slices.h"

namespace trireme::optim {

void Lion::run(std::span<const Slice> slices, std::int64_t /*step*/, double gradient_scale,
               Guard* guard) const {
  run_slices(slices, guard, [&]<class T>(const Slice& slice, T) {
    return kernel::LionUpdate<T>{
        .scale = static_cast<T>(gradient_scale),
        .decay = static_cast<T>(1 - slice.learning_rate * slice.weight_decay),
        .beta1 = static_cast<T>(config_.betas[0]),
        .keep1 = static_cast<T>(1 - config_.betas[0]),
        .beta2 = static_cast<T>(config_.betas[1]),
        .keep2 = static_cast<T>(1 - config_.betas[1]),
        .rate = static_cast<T>(slice.learning_rate)};
  });
}

}  // namespace trireme::optim
