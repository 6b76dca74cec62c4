#include "trireme/optim/adagrad.h"

#include "trireme/base/check.h"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {

void Adagrad::update(std::span<const Slice> slices, std::int64_t step,
                     double gradient_scale) const {
  TRIREME_CHECK(step >= 1, "steps count from 1, not ", step);
  const double fade = 1 + static_cast<double>(step - 1) * config_.rate_decay;
  run_slices(
      slices, 1, [&]<class T>(const Slice& slice, std::int64_t begin, std::int64_t count, T) {
        const kernel::AdagradNumbers<T> numbers{.scale = static_cast<T>(gradient_scale),
                                                .penalty = static_cast<T>(slice.weight_decay),
                                                .rate = static_cast<T>(slice.learning_rate / fade),
                                                .epsilon = static_cast<T>(config_.epsilon)};
        kernel::adagrad(numbers, slice.value.mutable_data_ptr<T>() + begin,
                        slice.gradient.const_data_ptr<T>() + begin,
                        slice.state[0].mutable_data_ptr<T>() + begin, count);
      });
}

}  // namespace trireme::optim
