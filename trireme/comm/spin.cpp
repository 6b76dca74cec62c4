#include "trireme/comm/spin.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace trireme::comm {

bool is_crowded(int ranks) noexcept {
  // Uses the cores of the machine, not the affinity of this process: a rank that is bound to one
  // core does have its own core.
  return ranks > std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
}

std::chrono::microseconds spin_for(int ranks) noexcept {
  return std::chrono::microseconds(is_crowded(ranks) ? 2 : 100);
}

}  // namespace trireme::comm
