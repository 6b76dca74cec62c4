// Compares two checkpoints tensor by tensor, however each of them is split into parts.
//
// Errors:        the errors that Reader throws.
// Thread safety: any thread may call these functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/checkpoint/format/reader.h"

namespace trireme::checkpoint::format {

struct Difference {
  std::string name;
  std::string what{};              // "only in the first", "F32 (3, 4) and F32 (4, 3)"; else empty
  std::int64_t count = 0;          // elements whose bits differ
  double largest = 0;              // largest absolute difference; NaN if one value is NaN
  std::int64_t largest_index = 0;  // row-major index of the largest difference
};

// Sorted by name; empty if all tensors are bitwise identical.
std::vector<Difference> differences(const Reader& a, const Reader& b);

// "F32 (3, 4)"
std::string form_text(const StoredTensor& tensor);

}  // namespace trireme::checkpoint::format
