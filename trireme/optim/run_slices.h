// What rules share: slices checked and, for the element-wise ones, cut into chunks and handed to a
// kernel on all of this rank's threads.
//
// Threads: pure.
// Failure: Misuse for slices whose tensors do not match.

#pragma once

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <span>

#include "trireme/optim/slice.h"

namespace trireme::optim {

void check_slice(const Slice& slice, std::size_t states);
// Also that it is a whole parameter.
void check_whole_slice(const Slice& slice, std::size_t states);

// Elements that a thread takes at once: enough to hide its start, few enough to share fairly.
inline constexpr std::int64_t kChunkElements = 1 << 15;

// kernel(slice, begin, count, T{}) for every element of every slice exactly once.
template <class Kernel>
void run_slices(std::span<const Slice> slices, std::size_t states, const Kernel& kernel) {
  for (const Slice& slice : slices) {
    check_slice(slice, states);
    AT_DISPATCH_FLOATING_TYPES(slice.value.scalar_type(), "update", [&] {
      at::parallel_for(0, slice.value.numel(), kChunkElements,
                       [&](std::int64_t begin, std::int64_t end) {
                         kernel(slice, begin, end - begin, scalar_t{});
                       });
    });
  }
}

}  // namespace trireme::optim
