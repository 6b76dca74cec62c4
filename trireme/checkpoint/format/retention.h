// Which checkpoints go when a new one has come: all but the last few and the best few.
//
// Threads: pure.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trireme::checkpoint::format {

struct Retention {
  int keep_last = 3;  // 0: keep all
  int keep_best = 1;  // by score; of equal scores the earlier
  bool is_higher_better = false;
};

struct Scored {
  std::int64_t step = 0;
  std::optional<double> score{};  // one that is not a number is none
};

// The steps to remove, ascending. The newest is never among them.
std::vector<std::int64_t> steps_to_remove(std::vector<Scored> held, const Retention& retention);

}  // namespace trireme::checkpoint::format
