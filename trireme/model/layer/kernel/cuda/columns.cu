#include <algorithm>

#include "trireme/device/cuda/launch.cuh"
#include "trireme/device/cuda/vectors.cuh"
#include "trireme/model/layer/kernel/cuda/sum_rows.cuh"
#include "trireme/model/layer/kernel/fused.h"

namespace trireme::model::kernel {
namespace {

using cuda::Eight;
using cuda::kLanes;
using cuda::kWide;
using Half = __nv_bfloat16;

constexpr int kRowsAtOnce = 8;  // of a block: one warp for each
// Of GELU, five fit on a multiprocessor of an H200 at once: three full rounds of them.
constexpr std::int64_t kBlocks = 132 * 15;
constexpr int kBatch = 4;  // vectors that a thread loads before it uses them

// gelu(x) = x / (1 + exp(-2u)), u = kRoot * (x + kCubic * x^3): the same as x / 2 * (1 + tanh(u)),
// without its cancellation for negative x.
constexpr float kRoot = 0.7978845608028654f;
constexpr float kCubic = 0.044715f;

__device__ float gate_of(float x) {
  const float twice = 2 * kRoot * x * (1 + kCubic * x * x);
  return __fdividef(1.0f, 1 + __expf(-twice));
}

__device__ float gelu_of(float x) {
  return x * gate_of(x);
}

__device__ float slope_of(float x) {
  const float gate = gate_of(x);
  return gate + x * gate * (1 - gate) * 2 * kRoot * (1 + 3 * kCubic * x * x);
}

// Maps the vectors of (rows, width) in `map(row, column)`, and sums the results over rows: block
// (x, y) has 256 columns, and every gridDim.y-th group of rows, and writes row y of `partial`.
template <class Map>
__device__ void sum_columns(std::int64_t rows, std::int64_t width, float* partial, const Map& map) {
  __shared__ alignas(16) float sums[kRowsAtOnce][kLanes * kWide];
  const std::int64_t first = std::int64_t{blockIdx.x} * kLanes * kWide;
  const std::int64_t column = first + threadIdx.x * kWide;
  Eight sum = {};
  if (column < width) {
    const std::int64_t stride = std::int64_t{gridDim.y} * kRowsAtOnce;
#pragma unroll 4
    for (std::int64_t row = std::int64_t{blockIdx.y} * kRowsAtOnce + threadIdx.y; row < rows;
         row += stride) {
      const Eight one = map(row, column);
      for (int i = 0; i < kWide; ++i) sum.at[i] += one.at[i];
    }
  }
  sum.store(&sums[threadIdx.y][threadIdx.x * kWide]);
  __syncthreads();
  const int own = threadIdx.y * kLanes + threadIdx.x;
  float all = 0;
  for (int y = 0; y < kRowsAtOnce; ++y) all += sums[y][own];
  if (first + own < width) partial[blockIdx.y * width + first + own] = all;
}

__global__ void column_sums(const Half* from, std::int64_t rows, std::int64_t width,
                            float* partial) {
  sum_columns(rows, width, partial, [&](std::int64_t row, std::int64_t column) {
    return Eight::load(from + row * width + column);
  });
}

__global__ void bias_gelu_sums(GeluRows all, const Half* of_y, Half* of_x, float* partial) {
  sum_columns(all.rows, all.width, partial, [&](std::int64_t row, std::int64_t column) {
    const std::int64_t at = row * all.width + column;
    const Eight x = Eight::load(static_cast<const Half*>(all.x) + at);
    const Eight bias = Eight::load(all.bias + column);
    Eight out = Eight::load(of_y + at);
    for (int i = 0; i < kWide; ++i) out.at[i] *= slope_of(x.at[i] + bias.at[i]);
    out.store(of_x + at);
    return out;
  });
}

__global__ void bias_gelu_rows(GeluRows all) {
  const std::int64_t column = (std::int64_t{blockIdx.x} * kLanes + threadIdx.x) * kWide;
  if (column >= all.width) return;
  const Eight bias = Eight::load(all.bias + column);
  const std::int64_t stride = std::int64_t{gridDim.y} * kRowsAtOnce;
  const std::int64_t begin = std::int64_t{blockIdx.y} * kRowsAtOnce + threadIdx.y;
  for (std::int64_t first = begin; first < all.rows; first += kBatch * stride) {
    uint4 bits[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const std::int64_t row = first + k * stride;
      if (row >= all.rows) continue;
      bits[k] = Eight::bits_at(static_cast<const Half*>(all.x) + row * all.width + column);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const std::int64_t row = first + k * stride;
      if (row >= all.rows) continue;
      Eight x = Eight::of(bits[k]);
      for (int i = 0; i < kWide; ++i) x.at[i] = gelu_of(x.at[i] + bias.at[i]);
      x.store(static_cast<Half*>(all.y) + row * all.width + column);
    }
  }
}

__global__ void join_rows(const Half* a, const Half* b, const Half* c, std::int64_t rows,
                          int vectors, Half* to) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int at = threadIdx.x; at < 3 * vectors; at += blockDim.x) {
      const int part = at / vectors;
      const Half* from = part == 0 ? a : part == 1 ? b : c;
      const std::int64_t source = row * vectors + (at - part * vectors);
      reinterpret_cast<uint4*>(to)[row * 3 * vectors + at] =
          reinterpret_cast<const uint4*>(from)[source];
    }
  }
}

// Enough blocks to fill the GPU, and at most kPartialRows of them above each other.
dim3 tiles_of(std::int64_t rows, std::int64_t width) {
  const std::int64_t across = (width + kLanes * kWide - 1) / (kLanes * kWide);
  const std::int64_t groups = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
  const std::int64_t wanted = std::max<std::int64_t>(1, kBlocks / across);
  return dim3(static_cast<unsigned>(across),
              static_cast<unsigned>(std::min({groups, wanted, kPartialRows})));
}

}  // namespace

bool has_fused() noexcept {
  return true;
}

void column_sum(const void* from, std::int64_t rows, std::int64_t width, float* partial, float* to,
                const Stream& stream) {
  cuda::check(cudaSetDevice(stream.device.index), "selecting a GPU");
  const dim3 tiles = tiles_of(rows, width);
  column_sums<<<tiles, dim3(kLanes, kRowsAtOnce), 0, static_cast<cudaStream_t>(stream.handle)>>>(
      static_cast<const Half*>(from), rows, width, partial);
  cuda::check(cudaGetLastError(), "starting a kernel");
  sum_rows(partial, tiles.y, width, to, stream);
}

void bias_gelu(const GeluRows& all, const Stream& stream) {
  cuda::check(cudaSetDevice(stream.device.index), "selecting a GPU");
  bias_gelu_rows<<<tiles_of(all.rows, all.width), dim3(kLanes, kRowsAtOnce), 0,
                   static_cast<cudaStream_t>(stream.handle)>>>(all);
  cuda::check(cudaGetLastError(), "starting a kernel");
}

void bias_gelu_gradient(const GeluRows& all, const void* of_y, void* of_x, float* partial,
                        float* of_bias, const Stream& stream) {
  cuda::check(cudaSetDevice(stream.device.index), "selecting a GPU");
  const dim3 tiles = tiles_of(all.rows, all.width);
  bias_gelu_sums<<<tiles, dim3(kLanes, kRowsAtOnce), 0, static_cast<cudaStream_t>(stream.handle)>>>(
      all, static_cast<const Half*>(of_y), static_cast<Half*>(of_x), partial);
  cuda::check(cudaGetLastError(), "starting a kernel");
  sum_rows(partial, tiles.y, all.width, of_bias, stream);
}

void join_three(const void* const from[3], std::int64_t rows, std::int64_t width, void* to,
                const Stream& stream) {
  cuda::check(cudaSetDevice(stream.device.index), "selecting a GPU");
  const int vectors = static_cast<int>(width / kWide);
  const int threads = std::min(1024, (3 * vectors + kLanes - 1) / kLanes * kLanes);
  const auto blocks = static_cast<unsigned>(std::min(rows, cuda::kBlocksMax));
  join_rows<<<blocks, threads, 0, static_cast<cudaStream_t>(stream.handle)>>>(
      static_cast<const Half*>(from[0]), static_cast<const Half*>(from[1]),
      static_cast<const Half*>(from[2]), rows, vectors, static_cast<Half*>(to));
  cuda::check(cudaGetLastError(), "starting a kernel");
}

}  // namespace trireme::model::kernel
