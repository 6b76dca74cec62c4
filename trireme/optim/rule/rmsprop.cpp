#include "trireme/optim/rule/rmsprop.h"

#include "trireme/optim/run_slices.h"

namespace trireme::optim {

std::vector<std::string> Rmsprop::state_names() const {
  std::vector<std::string> names{"square_avg"};
  if (config_.centered) names.push_back("grad_avg");
  if (config_.momentum > 0) names.push_back("momentum_buffer");
  return names;
}

void Rmsprop::run(std::span<const Slice> slices, std::int64_t /*step*/, double gradient_scale,
                  Guard* guard) const {
  const auto run_as = [&]<bool kIsCentered, bool kHasMomentum>() {
    run_slices(slices, guard, [&]<class T>(const Slice& slice, T) {
      return kernel::RmspropUpdate<T, kIsCentered, kHasMomentum>{
          .scale = static_cast<T>(gradient_scale),
          .penalty = static_cast<T>(slice.weight_decay),
          .alpha = static_cast<T>(config_.alpha),
          .keep = static_cast<T>(1 - config_.alpha),
          .momentum = static_cast<T>(config_.momentum),
          .rate = static_cast<T>(slice.learning_rate),
          .epsilon = static_cast<T>(config_.eps)};
    });
  };
  if (config_.centered) {
    config_.momentum > 0 ? run_as.template operator()<true, true>()
                         : run_as.template operator()<true, false>();
  } else {
    config_.momentum > 0 ? run_as.template operator()<false, true>()
                         : run_as.template operator()<false, false>();
  }
}

}  // namespace trireme::optim
