// Decides which checkpoints to remove after a new one was written: all except the last few and the
// best few.
//
// Thread safety: pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trireme::checkpoint::format {

struct Retention {
  int keep_last = 3;  // 0: keep all
  int keep_best = 1;  // by score; the earlier of two equal scores
  bool is_higher_better = false;
};

struct Scored {
  std::int64_t step = 0;
  std::optional<double> score{};  // NaN counts as no score
};

// The steps to remove, ascending. The newest step is never among them.
std::vector<std::int64_t> steps_to_remove(std::vector<Scored> held, const Retention& retention);

}  // namespace trireme::checkpoint::format
