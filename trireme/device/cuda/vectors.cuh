// What kernels of 16-bit activations share: eight bfloat16 values that are loaded and stored with
// one instruction, computed in float32, and sums over a warp or a block. The sums have a fixed
// order, so results are bitwise reproducible.
//
// Alignment: of the memory of eight values, 16 bytes.

#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace trireme::cuda {

inline constexpr int kLanes = 32;
inline constexpr int kWide = 8;  // bfloat16 values in 16 bytes

struct Eight {
  float at[kWide];

  __device__ static Eight load(const __nv_bfloat16* from) { return of(bits_at(from)); }

  // The same in two parts: what is loaded takes half the registers until it is needed.
  __device__ static uint4 bits_at(const __nv_bfloat16* from) {
    return *reinterpret_cast<const uint4*>(from);
  }
  __device__ static Eight of(uint4 bits) {
    const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
    Eight all;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      all.at[2 * i] = __uint_as_float(words[i] << 16);
      all.at[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000u);
    }
    return all;
  }

  __device__ static Eight load(const float* from) {
    const float4 a = reinterpret_cast<const float4*>(from)[0];
    const float4 b = reinterpret_cast<const float4*>(from)[1];
    return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
  }

  __device__ void store(__nv_bfloat16* to) const {
    std::uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const __nv_bfloat162 pair = __floats2bfloat162_rn(at[2 * i], at[2 * i + 1]);
      words[i] = *reinterpret_cast<const std::uint32_t*>(&pair);
    }
    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
  }

  __device__ void store(float* to) const {
    reinterpret_cast<float4*>(to)[0] = make_float4(at[0], at[1], at[2], at[3]);
    reinterpret_cast<float4*>(to)[1] = make_float4(at[4], at[5], at[6], at[7]);
  }
};

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
  }
  return value;
}

// The sums of two values over a block of whole warps; every thread receives them. `shared` has one
// entry per warp, and is free again after the call.
__device__ inline float2 block_sum(float a, float b, float2* shared) {
  float2 sum = make_float2(warp_sum(a), warp_sum(b));
  const int warps = blockDim.x / kLanes;
  if (warps == 1) return sum;
  if (threadIdx.x % kLanes == 0) shared[threadIdx.x / kLanes] = sum;
  __syncthreads();
  sum = make_float2(0, 0);
  for (int i = 0; i < warps; ++i) {
    sum.x += shared[i].x;
    sum.y += shared[i].y;
  }
  __syncthreads();
  return sum;
}

}  // namespace trireme::cuda
