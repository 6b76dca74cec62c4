#include <cmath>

#include "trireme/device/cuda/launch.cuh"
#include "trireme/device/cuda/vectors.cuh"
#include "trireme/model/layer/kernel/fused.h"

namespace trireme::model::kernel {
namespace {

using cuda::Eight;
using cuda::kLanes;
using cuda::kThreads;
using cuda::kWide;
using Half = __nv_bfloat16;

constexpr int kAtOnce = 4;  // vectors that a thread loads before it uses them
constexpr float kLeast = -3.4028234663852886e38f;

// A row of any length: values before the first 16-byte boundary, vectors, and the rest.
struct Row {
  std::int64_t head;
  std::int64_t vectors;

  __device__ Row(const Half* begin, std::int64_t classes) {
    const auto off = reinterpret_cast<std::uintptr_t>(begin) % (kWide * sizeof(Half));
    const std::int64_t to_boundary = off == 0 ? 0 : kWide - static_cast<std::int64_t>(off / 2);
    head = to_boundary < classes ? to_boundary : classes;
    vectors = (classes - head) / kWide;
  }
  // The index of the single value of thread t outside of the vectors, of which there are at most
  // 14; `classes` if it has none.
  __device__ std::int64_t single(std::int64_t classes) const {
    const std::int64_t t = threadIdx.x;
    if (t < head) return t;
    const std::int64_t at = t + vectors * kWide;
    return at < classes ? at : classes;
  }
};

// The greatest of some values, and the sum of exp(value - greatest).
struct Sum {
  float greatest = kLeast;
  float sum = 0;

  __device__ void add(float other_greatest, float other_sum) {
    const float both = fmaxf(greatest, other_greatest);
    sum = sum * __expf(greatest - both) + other_sum * __expf(other_greatest - both);
    greatest = both;
  }
  __device__ void add(const Eight& x) {
    float most = x.at[0];
    for (int i = 1; i < kWide; ++i) most = fmaxf(most, x.at[i]);
    if (most > greatest) {
      sum *= __expf(greatest - most);
      greatest = most;
    }
    for (int i = 0; i < kWide; ++i) sum += __expf(x.at[i] - greatest);
  }
};

// The sum over a block, in thread 0.
__device__ Sum whole(Sum own) {
  __shared__ float2 sums[kThreads / kLanes];
  for (int step = kLanes / 2; step > 0; step /= 2) {
    const float greatest = __shfl_down_sync(0xFFFFFFFFu, own.greatest, step);
    const float sum = __shfl_down_sync(0xFFFFFFFFu, own.sum, step);
    own.add(greatest, sum);
  }
  if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = make_float2(own.greatest, own.sum);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < kThreads / kLanes; ++i) own.add(sums[i].x, sums[i].y);
  }
  return own;
}

__global__ void __launch_bounds__(kThreads) entropy_rows(EntropyRows all, float* loss) {
  const std::int64_t row = blockIdx.x;
  const Half* x = static_cast<const Half*>(all.logits) + row * all.classes;
  const Row parts(x, all.classes);
  Sum own;
  for (std::int64_t first = threadIdx.x; first < parts.vectors; first += kAtOnce * kThreads) {
    uint4 bits[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const std::int64_t v = first + k * kThreads;
      if (v < parts.vectors) bits[k] = Eight::bits_at(x + parts.head + v * kWide);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (first + k * kThreads < parts.vectors) own.add(Eight::of(bits[k]));
    }
  }
  if (const std::int64_t at = parts.single(all.classes); at < all.classes) {
    own.add(__bfloat162float(x[at]), 1);
  }
  own = whole(own);
  if (threadIdx.x != 0) return;
  const float log_sum = own.greatest + logf(own.sum);
  const std::int64_t target = all.target[row];
  const bool is_class = target >= 0 && target < all.classes;
  all.log_sum[row] = log_sum;
  loss[row] = target == all.ignored ? 0.0f
              : is_class            ? log_sum - __bfloat162float(x[target])
                                    : __int_as_float(0x7FC00000);
}

__global__ void __launch_bounds__(kThreads)
    entropy_gradient_rows(EntropyRows all, const float* of_loss, Half* of_logits) {
  const std::int64_t row = blockIdx.x;
  const Half* x = static_cast<const Half*>(all.logits) + row * all.classes;
  Half* out = of_logits + row * all.classes;
  const Row parts(x, all.classes);
  const std::int64_t target = all.target[row];
  const bool is_ignored = target == all.ignored;
  const float scale = is_ignored ? 0.0f : *of_loss;
  const float log_sum = all.log_sum[row];
  const auto gradient = [&](float value, std::int64_t at) {
    if (is_ignored) return 0.0f;
    return scale * (__expf(value - log_sum) - (at == target ? 1.0f : 0.0f));
  };
  for (std::int64_t first = threadIdx.x; first < parts.vectors; first += kAtOnce * kThreads) {
    uint4 bits[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const std::int64_t v = first + k * kThreads;
      if (v < parts.vectors) bits[k] = Eight::bits_at(x + parts.head + v * kWide);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const std::int64_t v = first + k * kThreads, at = parts.head + v * kWide;
      if (v >= parts.vectors) continue;
      Eight values = Eight::of(bits[k]);
      for (int i = 0; i < kWide; ++i) values.at[i] = gradient(values.at[i], at + i);
      values.store(out + at);
    }
  }
  if (const std::int64_t at = parts.single(all.classes); at < all.classes) {
    out[at] = __float2bfloat16(gradient(__bfloat162float(x[at]), at));
  }
}

}  // namespace

void entropy(const EntropyRows& all, float* loss, const Stream& stream) {
  cuda::check(cudaSetDevice(stream.device.index), "selecting a GPU");
  entropy_rows<<<static_cast<unsigned>(all.rows), kThreads, 0,
                 static_cast<cudaStream_t>(stream.handle)>>>(all, loss);
  cuda::check(cudaGetLastError(), "starting a kernel");
}

void entropy_gradient(const EntropyRows& all, const float* of_loss, void* of_logits,
                      const Stream& stream) {
  cuda::check(cudaSetDevice(stream.device.index), "selecting a GPU");
  entropy_gradient_rows<<<static_cast<unsigned>(all.rows), kThreads, 0,
                          static_cast<cudaStream_t>(stream.handle)>>>(
      all, of_loss, static_cast<Half*>(of_logits));
  cuda::check(cudaGetLastError(), "starting a kernel");
}

}  // namespace trireme::model::kernel
