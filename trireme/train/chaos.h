// Chaos hurts this worker on purpose, at the step and the moment that was asked for: what
// `trireme train --chaos` hands to every worker in TRIREME_CHAOS.
//
//   kill rank=2 step=20; stop rank=1 step=30 for=2s; slow rank=0 factor=3
//
//   kill  SIGKILL to itself              rank, step, at (forward)
//   stop  SIGSTOP, and SIGCONT after for rank, step, at (forward), for (for ever)
//   slow  its own work takes factor times as long   rank, factor
//
// `rank` is a worker's number, which no other worker of the job ever has. `at` is a moment of the
// step: forward, backward, reduce (all slots done), prepared (all agreed, nothing updated), update
// (in the middle of it), checkpoint (a part is being written), recovery (another's death is being
// got over).
//
// Failure: InvalidInput that says what can be asked for.
// Threads: any.

#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/fault.h"

namespace trireme::train {

struct Mischief {
  enum class Kind { Kill, Stop, Slow };

  Kind kind = Kind::Kill;
  int worker = 0;
  std::int64_t step = 0;
  std::string point = "step.forward";  // as FaultPoint names it
  Duration length{};                   // of a stop; 0: for ever
  double factor = 1;                   // of slow
};

std::vector<Mischief> parse_chaos(std::string_view text);

class Chaos final : public Faults {
 public:
  Chaos(int worker, std::vector<Mischief> all);
  // Null where TRIREME_CHAOS is not set.
  static std::unique_ptr<Chaos> from_environment();

  void begin_step(std::int64_t step);
  void reached(FaultPoint point, int rank) override;

 private:
  void slow_down();

  int worker_;
  std::vector<Mischief> mine_;
  std::atomic<std::int64_t> step_{-1};  // that runs, or ran last
  double began_ = 0;  // seconds of this thread's work
};

}  // namespace trireme::train
