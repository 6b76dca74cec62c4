#include "trireme/comm/spin.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace trireme::comm {

std::chrono::microseconds spin_for(int ranks) noexcept {
  // Asks for the machine's cores, not the affinity of this process: a rank that is bound to one
  // core of its own does have one.
  const long cores = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  return std::chrono::microseconds(ranks <= cores ? 100 : 2);
}

}  // namespace trireme::comm
