// profile() runs a function and returns what the GPU did meanwhile, by PyTorch's profiler (Kineto),
// which counts only what the GPU runs: no events of the CPU, which would slow the function down.
//
// Errors:        what PyTorch throws.
// Thread safety: one thread; no other profile runs at the same time.

#pragma once

#include <functional>

#include "bench/gpu/activity.h"

namespace trireme::bench::gpu {

// The function must wait for the GPU before it returns.
Activity profile(const std::function<void()>& run);

}  // namespace trireme::bench::gpu
