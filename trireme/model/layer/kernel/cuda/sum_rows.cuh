// sum_rows() adds up the rows of float32 partial sums in a fixed order.

#pragma once

#include <cstdint>

#include "trireme/device/cuda/launch.cuh"
#include "trireme/device/cuda/vectors.cuh"

namespace trireme::model::kernel {

// A block of 32 x 32 threads sums 32 columns.
static __global__ void sum_row_tiles(const float* from, std::int64_t rows, std::int64_t width,
                                     float* to) {
  __shared__ float tile[cuda::kLanes][cuda::kLanes + 1];
  const std::int64_t column = std::int64_t{blockIdx.x} * cuda::kLanes + threadIdx.x;
  float sum = 0;
  if (column < width) {
#pragma unroll 8
    for (std::int64_t row = threadIdx.y; row < rows; row += cuda::kLanes) {
      sum += from[row * width + column];
    }
  }
  tile[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  sum = cuda::warp_sum(tile[threadIdx.x][threadIdx.y]);
  const std::int64_t own = std::int64_t{blockIdx.x} * cuda::kLanes + threadIdx.y;
  if (threadIdx.x == 0 && own < width) to[own] = sum;
}

inline void sum_rows(const float* from, std::int64_t rows, std::int64_t width, float* to,
                     const Stream& stream) {
  const auto blocks = static_cast<unsigned>((width + cuda::kLanes - 1) / cuda::kLanes);
  sum_row_tiles<<<blocks, dim3(cuda::kLanes, cuda::kLanes), 0,
                  static_cast<cudaStream_t>(stream.handle)>>>(from, rows, width, to);
  cuda::check(cudaGetLastError(), "starting a kernel");
}

}  // namespace trireme::model::kernel
