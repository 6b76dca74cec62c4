// measure_kernels() prints the memory bandwidth that each fused kernel of a GPU reaches on the
// tensors of GPT-2 124M (64 x 1024 tokens), beside that of a copy of 1 GiB.
//
// Errors:        what PyTorch and the kernels throw; Unsupported if the build has none.
// Thread safety: one thread.

#pragma once

namespace trireme::bench::gpu {

// Returns the exit status.
int measure_kernels();

}  // namespace trireme::bench::gpu
