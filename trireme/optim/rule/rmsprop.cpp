#include "trireme/optim/rule/rmsprop.h"

#include "trireme/base/check.h"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {

std::vector<std::string> Rmsprop::state_names() const {
  std::vector<std::string> names{"square_avg"};
  if (config_.centered) names.push_back("grad_avg");
  if (config_.momentum > 0) names.push_back("momentum_buffer");
  return names;
}

void Rmsprop::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                  Guard* guard) const {
  TRIREME_CHECK(step >= 1, "steps count from 1, not ", step);
  run_slices(slices, state_names().size(), guard, [&]<class T>(const Slice& slice, T) {
    const kernel::RmspropNumbers<T> numbers{.scale = static_cast<T>(gradient_scale),
                                            .penalty = static_cast<T>(slice.weight_decay),
                                            .alpha = static_cast<T>(config_.alpha),
                                            .keep = static_cast<T>(1 - config_.alpha),
                                            .momentum = static_cast<T>(config_.momentum),
                                            .rate = static_cast<T>(slice.learning_rate),
                                            .epsilon = static_cast<T>(config_.eps)};
    auto next = slice.state.begin();
    const auto take = [&] { return (next++)->mutable_data_ptr<T>(); };
    kernel::RmspropState<T> state{.square = take()};
    if (config_.centered) state.mean = take();
    if (config_.momentum > 0) state.buffer = take();
    return [numbers, value = slice.value.mutable_data_ptr<T>(),
            gradient = slice.gradient.const_data_ptr<T>(),
            state](std::int64_t begin, std::int64_t count) {
      kernel::RmspropState<T> run{.square = state.square + begin};
      if (state.mean != nullptr) run.mean = state.mean + begin;
      if (state.buffer != nullptr) run.buffer = state.buffer + begin;
      kernel::rmsprop(numbers, value + begin, gradient + begin, run, count);
    };
  });
}

}  // namespace trireme::optim
