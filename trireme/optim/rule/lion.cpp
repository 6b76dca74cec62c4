#include "trireme/optim/rule/lion.h"

#include "trireme/base/check.h"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {

void Lion::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
               Guard* guard) const {
  TRIREME_CHECK(step >= 1, "steps count from 1, not ", step);
  run_slices(slices, 1, guard, [&]<class T>(const Slice& slice, T) {
    const kernel::LionNumbers<T> numbers{
        .scale = static_cast<T>(gradient_scale),
        .decay = static_cast<T>(1 - slice.learning_rate * slice.weight_decay),
        .beta1 = static_cast<T>(config_.betas[0]),
        .keep1 = static_cast<T>(1 - config_.betas[0]),
        .beta2 = static_cast<T>(config_.betas[1]),
        .keep2 = static_cast<T>(1 - config_.betas[1]),
        .rate = static_cast<T>(slice.learning_rate)};
    return [numbers, value = slice.value.mutable_data_ptr<T>(),
            gradient = slice.gradient.const_data_ptr<T>(),
            mean = slice.state[0].mutable_data_ptr<T>()](std::int64_t begin, std::int64_t count) {
      kernel::lion(numbers, value + begin, gradient + begin, mean + begin, count);
    };
  });
}

}  // namespace trireme::optim
