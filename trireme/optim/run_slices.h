// Shared code of the optimizers: checks slices and, for the element-wise ones, applies a rule to
// them: on all threads of this rank, range by range with a guard, or on their GPU.
//
//   run_slices(slices, guard, [&]<class T>(const Slice& slice, T) {
//     return kernel::LionUpdate<T>{.rate = ...};
//   });
//
// Thread safety: pure functions; any thread.
// Errors:        Misuse for slices whose tensors do not match.

#pragma once

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <span>
#include <vector>

#include "trireme/device/torch/torch_device.h"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/kernel/update.h"
#include "trireme/optim/optimizer.h"

namespace trireme::optim {

void check_slice(const Slice& slice, std::size_t states);
// Also checks that it is a whole parameter.
void check_whole_slice(const Slice& slice, std::size_t states);
// Elements on a GPU cannot be saved before they change.
void check_no_guard(const Guard* guard);

// Elements that a thread takes at once: enough to amortize its start, few enough to share evenly.
inline constexpr std::int64_t kChunkElements = 1 << 15;

// Elements per call of a guard: the values that it saves stay in the nearest cache, and the machine
// reads the next ones from memory while it computes these.
inline constexpr std::int64_t kGuardedElements = 256;

template <class T>
kernel::Elements<T> elements_of(const Slice& slice) {
  kernel::Elements<T> all{slice.value.mutable_data_ptr<T>(), slice.gradient.const_data_ptr<T>()};
  for (std::size_t i = 0; i < slice.state.size(); ++i) {
    all.state[i] = slice.state[i].mutable_data_ptr<T>();
  }
  return all;
}

template <class Rule>
void run_on_cpu(const Slice& slice, const Rule& rule, Guard* guard) {
  const auto all = elements_of<typename Rule::Number>(slice);
  const std::int64_t count = slice.value.numel();
  if (guard == nullptr) {
    at::parallel_for(0, count, kChunkElements, [&](std::int64_t begin, std::int64_t end) {
      kernel::update(rule, all.from(begin), end - begin);
    });
    return;
  }
  for (std::int64_t begin = 0; begin < count; begin += kGuardedElements) {
    const std::int64_t run = std::min(kGuardedElements, count - begin);
    guard->before(slice, begin, run);
    kernel::update(rule, all.from(begin), run);
  }
}

// `slices` have the type T and are on the same GPU.
template <class T, class RuleOf>
void run_on_gpu(std::span<const Slice> slices, const RuleOf& rule_of) {
  using Rule = decltype(rule_of(slices[0], T{}));
  std::vector<kernel::Update<Rule>> all;
  for (const Slice& slice : slices) {
    check_slice(slice, Rule::kStates);
    all.push_back({rule_of(slice, T{}), elements_of<T>(slice), slice.value.numel()});
  }
  kernel::update<Rule>(all, current_stream(slices[0].value.device()));
}

// The number of slices at the beginning that are on the same device and of the same type.
inline std::size_t alike_slices(std::span<const Slice> slices) {
  const auto other = std::find_if(slices.begin(), slices.end(), [&](const Slice& slice) {
    return slice.value.device() != slices[0].value.device() ||
           slice.value.scalar_type() != slices[0].value.scalar_type();
  });
  return static_cast<std::size_t>(other - slices.begin());
}

// Applies rule_of(slice, T{}) to every element of every slice exactly once. `guard` may be null,
// and is for slices on the CPU.
template <class RuleOf>
void run_slices(std::span<const Slice> slices, Guard* guard, const RuleOf& rule_of) {
  while (!slices.empty()) {
    const std::span<const Slice> alike = slices.first(alike_slices(slices));
    slices = slices.subspan(alike.size());
    AT_DISPATCH_FLOATING_TYPES(alike[0].value.scalar_type(), "update", [&] {
      if (!alike[0].value.is_cpu()) {
        check_no_guard(guard);
        return run_on_gpu<scalar_t>(alike, rule_of);
      }
      for (const Slice& slice : alike) {
        const auto rule = rule_of(slice, scalar_t{});
        check_slice(slice, decltype(rule)::kStates);
        run_on_cpu(slice, rule, guard);
      }
    });
  }
}

}  // namespace trireme::optim
