#include "trireme/optim/slice.h"

namespace trireme::optim {

Slice Slice::part(std::int64_t begin, std::int64_t count) const {
  if (count == value.numel()) return *this;
  Slice part{.value = value.narrow(0, begin, count),
             .gradient = gradient.narrow(0, begin, count),
             .state = {},
             .learning_rate = learning_rate,
             .weight_decay = weight_decay,
             .first_step = first_step,
             .rule = rule};
  for (const at::Tensor& each : state) part.state.push_back(each.narrow(0, begin, count));
  return part;
}

}  // namespace trireme::optim
