#include "trireme/optim/rule/adagrad.h"

#include "trireme/base/check.h"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {

void Adagrad::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                  Guard* guard) const {
  TRIREME_CHECK(step >= 1, "steps count from 1, not ", step);
  const double fade = 1 + static_cast<double>(step - 1) * config_.lr_decay;
  run_slices(slices, 1, guard, [&]<class T>(const Slice& slice, T) {
    const kernel::AdagradNumbers<T> numbers{.scale = static_cast<T>(gradient_scale),
                                            .penalty = static_cast<T>(slice.weight_decay),
                                            .rate = static_cast<T>(slice.learning_rate / fade),
                                            .epsilon = static_cast<T>(config_.eps)};
    return [numbers, value = slice.value.mutable_data_ptr<T>(),
            gradient = slice.gradient.const_data_ptr<T>(),
            sum = slice.state[0].mutable_data_ptr<T>()](std::int64_t begin, std::int64_t count) {
      kernel::adagrad(numbers, value + begin, gradient + begin, sum + begin, count);
    };
  });
}

}  // namespace trireme::optim
