// plan_cores distributes the processors of a host to the ranks of a job; a pure function.
//
// Rule:          a rank gets whole physical cores while there are enough of them, then single
//                hardware threads, always adjacent ones; with more ranks than hardware threads no
//                rank is bound. The shares of two ranks differ by at most one. The number of
//                threads of a rank equals its number of cores, is limited by its part of the
//                cgroup's quota, and is at least one.
// Errors:        Misuse when there are no ranks or no processors.
// Thread safety: pure functions.

#pragma once

#include <string>
#include <vector>

namespace trireme::cluster::launch::host {

// A hardware thread. Processors with equal package and core share one physical core.
struct Processor {
  int id = 0;
  int package = 0;
  int core = 0;
};

struct CoreRequest {
  std::vector<Processor> processors;  // those that this process may run on, in any order
  double quota = 0;                   // processor time that this process may use, in processors; 0:
                                      // no limit
  int ranks = 1;
  bool bind = true;
  int threads = 0;  // the OMP_NUM_THREADS that the user set; 0: not set
};

struct CoreShare {
  std::vector<int> processors;  // ids, sorted
  int threads = 1;
};

struct CorePlan {
  std::vector<CoreShare> shares;  // by rank
  bool is_bound = false;          // false: every rank may run on every processor
  double available = 0;           // number of processors, or the quota if it is less
  int threads = 0;                // of all ranks together

  bool is_oversubscribed() const noexcept { return threads > available; }
};

CorePlan plan_cores(const CoreRequest& request);

// "0-3,8": the format of the kernel and of taskset.
std::string to_text(const std::vector<int>& processors);

}  // namespace trireme::cluster::launch::host
