// Shared code of the optimizers: checks slices and, for the element-wise ones, cuts them into
// chunks that run in a kernel on all threads of this rank, or range by range with a guard.
//
//   run_slices(slices, 2, guard, [&]<class T>(const Slice& slice, T) {
//     return [numbers = ..., value = slice.value.mutable_data_ptr<T>()](std::int64_t begin,
//                                                                       std::int64_t count) { ...
//                                                                       };
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

#include "trireme/optim/optimizer.h"

namespace trireme::optim {

void check_slice(const Slice& slice, std::size_t states);
// Also checks that it is a whole parameter.
void check_whole_slice(const Slice& slice, std::size_t states);

// Elements that a thread takes at once: enough to amortize its start, few enough to share evenly.
inline constexpr std::int64_t kChunkElements = 1 << 15;

// Elements per call of a guard: the values that it saves stay in the nearest cache, and the machine
// reads the next ones from memory while it computes these.
inline constexpr std::int64_t kGuardedElements = 256;

// Runs kernel_of(slice, T{})(begin, count) for every element of every slice exactly once. `guard`
// may be null.
template <class KernelOf>
void run_slices(std::span<const Slice> slices, std::size_t states, Guard* guard,
                const KernelOf& kernel_of) {
  for (const Slice& slice : slices) {
    check_slice(slice, states);
    const std::int64_t count = slice.value.numel();
    AT_DISPATCH_FLOATING_TYPES(slice.value.scalar_type(), "update", [&] {
      const auto kernel = kernel_of(slice, scalar_t{});
      if (guard == nullptr) {
        at::parallel_for(0, count, kChunkElements,
                         [&](std::int64_t begin, std::int64_t end) { kernel(begin, end - begin); });
        return;
      }
      for (std::int64_t begin = 0; begin < count; begin += kGuardedElements) {
        const std::int64_t run = std::min(kGuardedElements, count - begin);
        guard->before(slice, begin, run);
        kernel(begin, run);
      }
    });
  }
}

}  // namespace trireme::optim
