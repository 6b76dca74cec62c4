#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "trireme/device/cuda/launch.cuh"
#include "trireme/model/layer/kernel/dropout.h"

namespace trireme::model::kernel {
namespace {

// A thread computes one Philox block, for the eight elements of its lane.
template <class T>
__global__ void drop_rows(DropoutMask mask, DropoutRows all, std::int64_t lanes,
                          std::int64_t threads) {
  const T* from = static_cast<const T*>(all.from);
  T* to = static_cast<T*>(all.to);
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < threads;
       i += stride) {
    const std::int64_t row = i / lanes,
                       lane = all.first / kDropoutGroup * kDropoutLanes + i % lanes;
    const std::int64_t place = all.places == nullptr ? row : all.places[row];
    const PhiloxBlock bits =
        philox(mask.key, {static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(place),
                          mask.step, mask.layer});
    std::int64_t column = lane / kDropoutLanes * kDropoutGroup + lane % kDropoutLanes - all.first;
    for (int k = 0; k < kDropoutBits && column < all.columns; ++k, column += kDropoutLanes) {
      if (column < 0) continue;
      const std::uint32_t half = bits[k / 2] >> (k % 2 * 16) & 0xFFFF;
      const T factor = half < mask.threshold ? T(0.0f) : T(mask.scale);
      const std::int64_t at = row * all.columns + column;
      to[at] = from[at] * factor;
    }
  }
}

template <class T>
void drop_as(const DropoutMask& mask, const DropoutRows& all, const Stream& stream) {
  const std::int64_t begin = all.first / kDropoutGroup;
  const std::int64_t end = (all.first + all.columns + kDropoutGroup - 1) / kDropoutGroup;
  const std::int64_t groups = end - begin;
  const std::int64_t lanes = groups * kDropoutLanes;
  cuda::launch(stream, all.rows * lanes, drop_rows<T>, mask, all, lanes, all.rows * lanes);
}

}  // namespace

void drop(const DropoutMask& mask, const DropoutRows& all, const Stream& stream) {
  switch (all.type) {
    case comm::DType::Float64:
      return drop_as<double>(mask, all, stream);
    case comm::DType::Float32:
      return drop_as<float>(mask, all, stream);
    case comm::DType::Float16:
      return drop_as<__half>(mask, all, stream);
    case comm::DType::BFloat16:
      return drop_as<__nv_bfloat16>(mask, all, stream);
    default:
      throw Error(ErrorCode::Misuse, "dropout of " + std::string(comm::name_of(all.type)));
  }
}

}  // namespace trireme::model::kernel
