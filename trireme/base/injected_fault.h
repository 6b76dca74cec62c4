// InjectedFault is one fault that a fault-injection run (`--chaos`) injects into a worker.
//
//   kill rank=2 step=20; stop rank=1 step=30 for=2s; slow rank=0 factor=3
//
//   kill   the worker sends itself SIGKILL             rank, step, at (default forward)
//   stop   SIGSTOP, and SIGCONT after `for`            rank, step, at (forward), for (forever)
//   hang   the training thread sleeps, while           rank, step, at (forward), for (forever)
//          heartbeats continue
//   slow   the worker's own work takes `factor` times as long       rank, factor
//   doubt  the worker treats a live worker, `whom`, as dead         rank, whom, step, at (forward)
//
// `rank` is a worker's number, which is unique within the job. `at` is a phase of the step:
// forward, backward, reduce (all micro-batches are done), collective (in the middle of one),
// prepared (gradient synchronization is complete, nothing is updated yet), update (in the middle of
// the update), checkpoint (a part is being written), recovery (recovering from the death of another
// worker).
//
// Errors:        InvalidInput with a message that lists the supported faults.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme {

inline constexpr std::array<std::string_view, 8> kMoments{
    "forward", "backward", "reduce", "collective", "prepared", "update", "checkpoint", "recovery"};

struct InjectedFault {
  enum class Kind { Kill, Stop, Hang, Slow, Doubt };

  Kind kind = Kind::Kill;
  int worker = 0;
  std::int64_t step = 0;
  std::string moment = "forward";  // one of kMoments
  Duration length{};               // of a stop or hang; 0 means forever
  double factor = 1;               // for Slow
  int whom = -1;                   // the worker that is treated as dead, for Doubt

  // True if the job must be able to continue without this worker, or without the worker that it
  // doubts.
  bool is_loss() const noexcept { return kind != Kind::Slow; }
};

std::vector<InjectedFault> parse_chaos(std::string_view text);

}  // namespace trireme
