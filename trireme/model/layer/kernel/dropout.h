// The mask of dropout and the kernels that apply it. Element e of a sample uses half-word e % 128 /
// 16 of the Philox block e / 128 * 16 + e % 16 of that sample, so that 16 neighbours, one vector
// register or half a warp, are computed from 16 blocks by the same instructions.
//
// Bits:          the mask is the same on the CPU and on a GPU.
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>

#include "trireme/base/philox.h"
#include "trireme/comm/dtype.h"
#include "trireme/device/device.h"

namespace trireme::model::kernel {

inline constexpr int kDropoutLanes = 16;  // Philox blocks that are computed together
inline constexpr int kDropoutBits = 8;    // elements per block: 16 bits each
inline constexpr int kDropoutGroup = kDropoutLanes * kDropoutBits;

struct DropoutMask {
  PhiloxKey key{};
  std::uint32_t step = 0;  // with `layer`: the upper half of the counter
  std::uint32_t layer = 0;
  std::uint32_t threshold = 0;  // of 65536: elements whose bits are below it are dropped
  float scale = 1;              // of the others

  static DropoutMask of(std::uint64_t seed, std::int64_t step, int layer, double p);
};

// (rows, columns) in memory, one row per sample. `type` is float64, float32, float16 or bfloat16.
struct DropoutRows {
  const void* from = nullptr;
  void* to = nullptr;
  comm::DType type = comm::DType::Float32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t first = 0;                // of the sample's elements, if a row is a part of them
  const std::int64_t* places = nullptr;  // of the samples; null: row r is sample r
};

// The factors of elements [begin, begin + count) of a sample, on the CPU.
void dropout_factors(const DropoutMask& mask, std::int64_t place, std::int64_t begin,
                     std::int64_t count, float* out);

// In the memory of the CPU, on all threads of this rank.
void drop(const DropoutMask& mask, const DropoutRows& all);
// In the memory of a GPU.
void drop(const DropoutMask& mask, const DropoutRows& all, const Stream& stream);

}  // namespace trireme::model::kernel
