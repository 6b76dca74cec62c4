// The values with which conformance cases fill memory, and the expected results.
//
// All values are small integers, exact in every type, so that a result does not depend on the order
// of additions. They repeat after kPeriod elements, which is not a multiple of any size into which
// a transport cuts data.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "trireme/comm/span.h"

namespace trireme::comm::conformance {

inline constexpr std::size_t kPeriod = 485;

// A value in -2 ... 2 for this input, rank and element.
double value_of(int salt, int rank, std::size_t index);

// The reduction over ranks 0 ... ranks - 1, as the contract of ReduceOp defines it.
double reduced(DType type, ReduceOp op, int salt, int ranks, std::size_t index);

// One period of values, stored in a type.
class Cycle {
 public:
  Cycle(DType type, const std::function<double(std::size_t index)>& value);
  static Cycle input(DType type, int salt, int rank);
  static Cycle result(DType type, ReduceOp op, int salt, int ranks);

  // Elements [first, first + count).
  void write(void* out, std::size_t first, std::size_t count) const;
  // Empty if `data` contains those elements; otherwise describes the first difference.
  std::string difference(const void* data, std::size_t first, std::size_t count) const;

 private:
  DType type_;
  std::vector<std::byte> bytes_;  // two periods, so that a range never wraps around
};

// Convert one number to and from a type; integers wrap, 16-bit floats are rounded.
void encode(DType type, double value, void* out);
double decode(DType type, const void* in);

}  // namespace trireme::comm::conformance
