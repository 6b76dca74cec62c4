// Which kind ranks agree by from which step on: sync.kind at first, then what sync.schedule says.
//
//   kind = "all_reduce"
//   schedule = ["500=local steps=8", "2000=all_reduce"]
//
// Threads: pure.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/parallel/local/rounds_config.h"
#include "trireme/parallel/sync_config.h"

namespace trireme::parallel {

struct Stretch {
  std::int64_t begin = 0;  // the first step
  SyncKind kind = SyncKind::Auto;
  local::Pace pace{};  // of a kind that agrees less often than every step
};

// At least one, from step 0 on. Throws InvalidInput for a schedule that is none.
std::vector<Stretch> stretches_of(const config::Config& config);
// The same with two in place of post_local. REQUIRES: that can only be the first.
std::vector<Stretch> without_post_local(std::vector<Stretch> all);

}  // namespace trireme::parallel
