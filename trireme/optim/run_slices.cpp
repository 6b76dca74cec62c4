#include "trireme/optim/run_slices.h"

#include "trireme/base/check.h"

namespace trireme::optim {

void check_slice(const Slice& slice, std::size_t states) {
  const std::int64_t count = slice.value.numel();
  const auto check_one = [&](const at::Tensor& tensor, const char* what) {
    TRIREME_CHECK(tensor.defined() && tensor.is_contiguous(), what, " of a slice is not flat");
    TRIREME_CHECK_EQ(tensor.numel(), count, what, " of a slice");
    TRIREME_CHECK(tensor.scalar_type() == slice.value.scalar_type(), what, " has another type");
  };
  check_one(slice.value, "value");
  check_one(slice.gradient, "gradient");
  TRIREME_CHECK_EQ(slice.state.size(), states, "state of a slice");
  for (const at::Tensor& state : slice.state) check_one(state, "state");
}

void check_no_guard(const Guard* guard) {
  TRIREME_CHECK(guard == nullptr, "a guard of elements on a GPU");
}

void check_whole_slice(const Slice& slice, std::size_t states) {
  check_slice(slice, states);
  std::int64_t count = 1;
  for (const std::int64_t size : slice.sizes) count *= size;
  TRIREME_CHECK_EQ(slice.value.numel(), count, "a slice that is the whole of ", slice.name);
}

}  // namespace trireme::optim
