// The numbers with which the conformance cases fill memory, and what must come out.
//
// All values are small integers, exact in every type, so that a result does not depend on the
// order of the additions; they repeat after kPeriod elements, which is no multiple of anything
// that a transport cuts data into.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "trireme/comm/span.h"

namespace trireme::comm::conformance {

inline constexpr std::size_t kPeriod = 485;

// In -2 ... 2, by input, rank and element.
double value_of(int salt, int rank, std::size_t index);

// What ranks 0 ... ranks - 1 make of it together, as the contract of ReduceOp says.
double reduced(DType type, ReduceOp op, int salt, int ranks, std::size_t index);

// One period of values in the bytes of a type.
class Cycle {
 public:
  Cycle(DType type, const std::function<double(std::size_t index)>& value);
  static Cycle input(DType type, int salt, int rank);
  static Cycle result(DType type, ReduceOp op, int salt, int ranks);

  // Elements [first, first + count).
  void write(void* out, std::size_t first, std::size_t count) const;
  // Empty when `data` holds those elements; otherwise says where it differs first.
  std::string difference(const void* data, std::size_t first, std::size_t count) const;

 private:
  DType type_;
  std::vector<std::byte> bytes_;  // two periods, so that a run never wraps inside one
};

// One number to and from the bytes of a type; integers wrap, 16-bit floats are rounded.
void encode(DType type, double value, void* out);
double decode(DType type, const void* in);

}  // namespace trireme::comm::conformance
