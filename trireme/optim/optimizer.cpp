#include "trireme/optim/optimizer.h"

#include <algorithm>

#include "trireme/optim/run_slices.h"

namespace trireme::optim {

void Optimizer::update(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                       Guard& guard) const {
  for (const Slice& slice : slices) {
    check_slice(slice, state_names().size());
    const std::int64_t count = slice.value.numel();
    const std::int64_t run =
        grain() == Grain::WholeTensor ? std::max<std::int64_t>(count, 1) : kRunMax;
    for (std::int64_t begin = 0; begin < count; begin += run) {
      const std::int64_t length = std::min(run, count - begin);
      guard.before(slice, begin, length);
      const Slice part = slice.part(begin, length);
      update({&part, 1}, step, gradient_scale);
    }
  }
}

}  // namespace trireme::optim
