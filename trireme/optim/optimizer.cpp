#include "trireme/optim/optimizer.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/optim/run_slices.h"

namespace trireme::optim {

void Optimizer::update(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                       Guard* guard) const {
  TRIREME_CHECK(step >= 1, "steps count from 1, not ", step);
  if (guard == nullptr || notifies_guard()) return run(slices, step, gradient_scale, guard);
  for (const Slice& slice : slices) {
    check_slice(slice, state_names().size());
    const std::int64_t count = slice.value.numel();
    const std::int64_t range =
        grain() == Grain::WholeTensor ? std::max<std::int64_t>(count, 1) : kRunMax;
    for (std::int64_t begin = 0; begin < count; begin += range) {
      const std::int64_t length = std::min(range, count - begin);
      guard->before(slice, begin, length);
      const Slice part = slice.part(begin, length);
      run({&part, 1}, step, gradient_scale, nullptr);
    }
  }
}

}  // namespace trireme::optim
