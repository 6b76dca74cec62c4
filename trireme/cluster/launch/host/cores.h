// plan_cores deals the processors of a host to the ranks of a job; pure arithmetic.
//
// Meaning: a rank gets whole physical cores while there are enough of them, then single hardware
//          threads, always neighbours; with more ranks than hardware threads nobody is bound.
//          The shares of two ranks differ by at most one. A rank is told to use as many threads
//          as it got cores, and no more than its part of the cgroup's quota, but at least one.
// Failure: Misuse when there are no ranks or no processors.
// Threads: pure.

#pragma once

#include <string>
#include <vector>

namespace trireme::cluster::launch::host {

// A hardware thread. Those with equal package and core share one physical core.
struct Processor {
  int id = 0;
  int package = 0;
  int core = 0;
};

struct CoreRequest {
  std::vector<Processor> processors;  // those that we may run on, in any order
  double quota = 0;                   // processors' worth of time we may use; 0: no limit
  int ranks = 1;
  bool bind = true;
  int threads = 0;  // the user's own OMP_NUM_THREADS; 0: ours to choose
};

struct CoreShare {
  std::vector<int> processors;  // ids, sorted
  int threads = 1;
};

struct CorePlan {
  std::vector<CoreShare> shares;  // by rank
  bool is_bound = false;          // false: every rank may run on every processor
  double available = 0;           // processors, or the quota where that is less
  int threads = 0;                // of all ranks together

  bool is_oversubscribed() const noexcept { return threads > available; }
};

CorePlan plan_cores(const CoreRequest& request);

// "0-3,8": as the kernel and taskset write it.
std::string to_text(const std::vector<int>& processors);

}  // namespace trireme::cluster::launch::host
