// Named points at which a test, or a fault-injection run (`--chaos`), can kill, stop, slow or fail
// this process.
//
// A component declares its fault points beside its contract and reports each of them when it is
// reached:
//
//   inline constexpr FaultPoint kAllReduceBegun{"all_reduce.begun"};
//   reach(faults, kAllReduceBegun, rank);
//
// Without Faults (a null pointer), a fault point costs one comparison.

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
  // Called at the point, on the thread that reached it. May block, throw Error, or never return.
  virtual void reached(FaultPoint point, int rank) = 0;
};

inline void reach(Faults* faults, FaultPoint point, int rank) {
  if (faults != nullptr) [[unlikely]]
    faults->reached(point, rank);
}

}  // namespace trireme
