// How two checkpoints differ, tensor by tensor, in whatever parts they lie.
//
// Failure: what Reader throws.
// Threads: any.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trireme/checkpoint/format/reader.h"

namespace trireme::checkpoint::format {

struct Difference {
  std::string name;
  std::string what{};              // "only in the first", "F32 (3, 4) and F32 (4, 3)"; else empty
  std::int64_t count = 0;          // of elements whose bits differ
  double largest = 0;              // of their distances; NaN where one of two is not a number
  std::int64_t largest_index = 0;  // in row-major order
};

// By name; empty where all tensors are the same, bit for bit.
std::vector<Difference> differences(const Reader& a, const Reader& b);

// "F32 (3, 4)"
std::string form_text(const StoredTensor& tensor);

}  // namespace trireme::checkpoint::format
