// Named points at which a test, or a chaos run, may kill, freeze, slow or fail this process.
//
// A part that can be hurt declares its points beside its contract and passes them on its way:
//
//   inline constexpr FaultPoint kAllReduceBegun{"all_reduce.begun"};
//   reach(faults, kAllReduceBegun, rank);
//
// With no Faults attached (a null pointer) a point costs one comparison.

#pragma once

#include <string_view>

namespace trireme {

struct FaultPoint {
  std::string_view name;
  friend bool operator==(FaultPoint, FaultPoint) = default;
};

class Faults {
 public:
  virtual ~Faults() = default;
  // Called at the point, on the thread that passes it. May not return, may block, may throw Error.
  virtual void reached(FaultPoint point, int rank) = 0;
};

inline void reach(Faults* faults, FaultPoint point, int rank) {
  if (faults != nullptr) [[unlikely]]
    faults->reached(point, rank);
}

}  // namespace trireme
