#include <algorithm>

#include "trireme/device/cuda/launch.cuh"
#include "trireme/device/cuda/vectors.cuh"
#include "trireme/model/layer/kernel/cuda/sum_rows.cuh"
#include "trireme/model/layer/kernel/fused.h"

namespace trireme::model::kernel {
namespace {

using cuda::Eight;
using cuda::kWide;
using Half = __nv_bfloat16;

constexpr int kVectorsMax = 4;  // of a row in a thread's registers
// Of one warp each for narrow rows, as many as fit on the GPU at once.
constexpr std::int64_t kForwardBlocks = 132 * 32;
constexpr std::int64_t kBackwardBlocks = 132 * 10;
static_assert(kBackwardBlocks <= kPartialRows);
constexpr int kWarpsMax = kNormWidthMax / (kWide * kVectorsMax * cuda::kLanes);

// A block of threads takes one row after the other; thread t has vectors t, t + threads, ...
template <int kVectors>
__global__ void norm_rows(NormRows all) {
  __shared__ float2 shared[kWarpsMax];
  const int vectors = static_cast<int>(all.width / kWide);
  const float share = 1 / static_cast<float>(all.width);
  for (std::int64_t row = blockIdx.x; row < all.rows; row += gridDim.x) {
    const Half* from = static_cast<const Half*>(all.x) + row * all.width;
    Half* to = static_cast<Half*>(all.y) + row * all.width;
    Eight x[kVectors] = {};
    float sum = 0, squares = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int at = v * blockDim.x + threadIdx.x;
      if (at >= vectors) continue;
      x[v] = Eight::load(from + at * kWide);
      for (int i = 0; i < kWide; ++i) sum += x[v].at[i];
    }
    const float mean = cuda::block_sum(sum, 0, shared).x * share;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (v * blockDim.x + threadIdx.x >= vectors) continue;
      for (int i = 0; i < kWide; ++i) {
        const float off = x[v].at[i] - mean;
        squares += off * off;
      }
    }
    const float scale = rsqrtf(cuda::block_sum(squares, 0, shared).x * share + all.epsilon);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int at = v * blockDim.x + threadIdx.x;
      if (at >= vectors) continue;
      const Eight weight = Eight::load(all.weight + at * kWide);
      const Eight bias = all.bias == nullptr ? Eight{} : Eight::load(all.bias + at * kWide);
      for (int i = 0; i < kWide; ++i) {
        x[v].at[i] = (x[v].at[i] - mean) * scale * weight.at[i] + bias.at[i];
      }
      x[v].store(to + at * kWide);
    }
    if (threadIdx.x == 0) {
      all.mean[row] = mean;
      all.scale[row] = scale;
    }
  }
}

// Each block writes its sums for the gradients of weight and bias to its row of `partial`.
template <int kVectors>
__global__ void norm_gradient_rows(NormGradient all) {
  __shared__ float2 shared[kWarpsMax];
  const NormRows& in = all.forward;
  const int vectors = static_cast<int>(in.width / kWide);
  const float share = 1 / static_cast<float>(in.width);
  Eight of_weight[kVectors] = {}, of_bias[kVectors] = {};
  for (std::int64_t row = blockIdx.x; row < in.rows; row += gridDim.x) {
    const std::int64_t begin = row * in.width;
    const float mean = in.mean[row], scale = in.scale[row];
    const Half* added = static_cast<const Half*>(all.added);
    Eight x[kVectors] = {}, g[kVectors] = {};
    uint4 from_elsewhere[kVectors] = {};
    float sum = 0, product = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int at = v * blockDim.x + threadIdx.x;
      if (at >= vectors) continue;
      x[v] = Eight::load(static_cast<const Half*>(in.x) + begin + at * kWide);
      g[v] = Eight::load(static_cast<const Half*>(all.of_y) + begin + at * kWide);
      if (added != nullptr) from_elsewhere[v] = Eight::bits_at(added + begin + at * kWide);
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int at = v * blockDim.x + threadIdx.x;
      if (at >= vectors) continue;
      const Eight weight = Eight::load(in.weight + at * kWide);
      for (int i = 0; i < kWide; ++i) {
        x[v].at[i] = (x[v].at[i] - mean) * scale;
        of_weight[v].at[i] += g[v].at[i] * x[v].at[i];
        of_bias[v].at[i] += g[v].at[i];
        g[v].at[i] *= weight.at[i];
        sum += g[v].at[i];
        product += g[v].at[i] * x[v].at[i];
      }
    }
    const float2 sums = cuda::block_sum(sum, product, shared);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int at = v * blockDim.x + threadIdx.x;
      if (at >= vectors) continue;
      Eight out = Eight::of(from_elsewhere[v]);  // zero bits are zeros
      for (int i = 0; i < kWide; ++i) {
        out.at[i] += scale * (g[v].at[i] - share * (sums.x + x[v].at[i] * sums.y));
      }
      out.store(static_cast<Half*>(all.of_x) + begin + at * kWide);
    }
  }
  float* partial = all.partial + std::int64_t{blockIdx.x} * 2 * in.width;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int at = v * blockDim.x + threadIdx.x;
    if (at >= vectors) continue;
    of_weight[v].store(partial + at * kWide);
    of_bias[v].store(partial + in.width + at * kWide);
  }
}

struct Shape {
  int vectors = 0;  // per thread
  unsigned threads = 0;
  unsigned blocks = 0;
};

Shape shape_of(const NormRows& all, std::int64_t blocks) {
  const int vectors = static_cast<int>(all.width / kWide);
  const int per_warp = cuda::kLanes * kVectorsMax;
  const int threads = (vectors + per_warp - 1) / per_warp * cuda::kLanes;
  return {.vectors = (vectors + threads - 1) / threads,
          .threads = static_cast<unsigned>(threads),
          .blocks = static_cast<unsigned>(std::min(all.rows, blocks))};
}

template <class Kernel, class All>
void start(Kernel one, Kernel two, Kernel three, Kernel four, const All& all, const Shape& shape,
           const Stream& stream) {
  const Kernel kernels[] = {one, two, three, four};
  cuda::check(cudaSetDevice(stream.device.index), "selecting a GPU");
  kernels[shape.vectors -
          1]<<<shape.blocks, shape.threads, 0, static_cast<cudaStream_t>(stream.handle)>>>(all);
  cuda::check(cudaGetLastError(), "starting a kernel");
}

}  // namespace

void norm(const NormRows& all, const Stream& stream) {
  start(norm_rows<1>, norm_rows<2>, norm_rows<3>, norm_rows<4>, all, shape_of(all, kForwardBlocks),
        stream);
}

void norm_gradient(const NormGradient& all, const Stream& stream) {
  const Shape shape = shape_of(all.forward, kBackwardBlocks);
  start(norm_gradient_rows<1>, norm_gradient_rows<2>, norm_gradient_rows<3>, norm_gradient_rows<4>,
        all, shape, stream);
  sum_rows(all.partial, shape.blocks, 2 * all.forward.width, all.of_weight_bias, stream);
}

}  // namespace trireme::model::kernel
