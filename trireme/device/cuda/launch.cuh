// launch() starts a kernel for a number of elements on a stream.
//
// Errors:        Io with CUDA's message.
// Thread safety: any thread; the device of the stream becomes the thread's current one.

#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "trireme/base/error.h"
#include "trireme/device/device.h"

namespace trireme::cuda {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error(ErrorCode::Io, std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

inline constexpr int kThreads = 256;                  // per block
inline constexpr std::int64_t kBlocksMax = 132 * 16;  // enough to fill a GPU; kernels loop

inline unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>(std::min((count + kThreads - 1) / kThreads, kBlocksMax));
}

// The kernel loops over elements that the grid does not cover. `count` 0: nothing is launched.
template <class... Parameters, class... Arguments>
void launch(const Stream& stream, std::int64_t count, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  if (count == 0) return;
  check(cudaSetDevice(stream.device.index), "selecting a GPU");
  kernel<<<blocks_for(count), kThreads, 0, static_cast<cudaStream_t>(stream.handle)>>>(
      arguments...);
  check(cudaGetLastError(), "starting a kernel");
}

}  // namespace trireme::cuda
