// Mischief is one thing that a chaos run does to a worker on purpose, as people write it.
//
//   kill rank=2 step=20; stop rank=1 step=30 for=2s; slow rank=0 factor=3
//
//   kill   SIGKILL to itself              rank, step, at (forward)
//   stop   SIGSTOP, and SIGCONT after for rank, step, at (forward), for (for ever)
//   slow   its own work takes factor times as long   rank, factor
//   doubt  takes a living worker for dead            rank, whom, step, at (forward)
//
// `rank` is a worker's number, which no other worker of the job ever has. `at` is a moment of the
// step: forward, backward, reduce (all slots done), collective (half through one), prepared (all
// agreed, nothing updated), update (in the middle of it), checkpoint (a part is being written),
// recovery (another's death is being got over).
//
// Failure: InvalidInput that says what can be asked for.
// Threads: pure.

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

struct Mischief {
  enum class Kind { Kill, Stop, Slow, Doubt };

  Kind kind = Kind::Kill;
  int worker = 0;
  std::int64_t step = 0;
  std::string moment = "forward";  // one of kMoments
  Duration length{};               // of a stop; 0: for ever
  double factor = 1;               // of slow
  int whom = -1;                   // is doubted

  // Others must be able to go on without this worker, or the one that it doubts.
  bool is_loss() const noexcept { return kind != Kind::Slow; }
};

std::vector<Mischief> parse_chaos(std::string_view text);

}  // namespace trireme
