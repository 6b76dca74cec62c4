#include "trireme/optim/fused.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "trireme/base/check.h"

namespace trireme::optim {
namespace {

constexpr std::int64_t kChunk = 1 << 18;  // elements of a scaled copy: 1 MiB of float32

void check(const Slice& slice, std::size_t states) {
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

bool is_alike(const Slice& a, const Slice& b) {
  return a.learning_rate == b.learning_rate && a.weight_decay == b.weight_decay &&
         a.value.scalar_type() == b.value.scalar_type();
}

FusedCall call_for(const Slice& slice, std::size_t states) {
  FusedCall call{.learning_rate = slice.learning_rate,
                 .weight_decay = slice.weight_decay,
                 .values = {},
                 .gradients = {},
                 .state = {}};
  call.state.resize(states);
  return call;
}

void append(FusedCall& call, const Slice& slice, const at::Tensor& gradient) {
  call.values.push_back(slice.value);
  call.gradients.push_back(gradient);
  for (std::size_t i = 0; i < slice.state.size(); ++i) call.state[i].push_back(slice.state[i]);
}

void run_scaled(const Slice& slice, std::size_t states, double scale,
                const std::function<void(FusedCall&)>& kernel) {
  const std::int64_t count = slice.value.numel();
  const at::Tensor scratch = at::empty({std::min(kChunk, count)}, slice.gradient.options());
  const auto cut = [](const at::Tensor& tensor, std::int64_t begin, std::int64_t end) {
    return tensor.view({-1}).slice(0, begin, end);
  };
  for (std::int64_t begin = 0; begin < count; begin += kChunk) {
    const std::int64_t end = std::min(count, begin + kChunk);
    at::Tensor scaled = scratch.slice(0, 0, end - begin);
    at::mul_out(scaled, cut(slice.gradient, begin, end),
                at::scalar_tensor(scale, scaled.options()));
    Slice part{.value = cut(slice.value, begin, end),
               .gradient = scaled,
               .state = {},
               .learning_rate = slice.learning_rate,
               .weight_decay = slice.weight_decay};
    for (const at::Tensor& state : slice.state) part.state.push_back(cut(state, begin, end));
    FusedCall call = call_for(part, states);
    append(call, part, scaled);
    kernel(call);
  }
}

}  // namespace

void for_each_call(std::span<const Slice> slices, std::size_t states, double gradient_scale,
                   const std::function<void(FusedCall&)>& kernel) {
  const c10::NoGradGuard no_grad;
  std::vector<const Slice*> left;
  for (const Slice& slice : slices) {
    check(slice, states);
    if (slice.value.numel() == 0) continue;
    if (gradient_scale != 1.0) {
      run_scaled(slice, states, gradient_scale, kernel);
    } else {
      left.push_back(&slice);
    }
  }
  while (!left.empty()) {
    const Slice& first = *left.front();
    FusedCall call = call_for(first, states);
    std::erase_if(left, [&](const Slice* slice) {
      if (!is_alike(*slice, first)) return false;
      append(call, *slice, slice->gradient);
      return true;
    });
    kernel(call);
  }
}

}  // namespace trireme::optim
