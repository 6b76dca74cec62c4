// The synchronization strategies of a job by step: first sync.kind, then those of sync.schedule.
//
//   kind = "all_reduce"
//   schedule = ["500=local steps=8", "2000=all_reduce"]
//
// Errors:        InvalidInput for an invalid schedule.
// Thread safety: pure functions.

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
  local::Pace pace{};  // of a local-update method
};

// At least one; the first begins at step 0.
std::vector<Stretch> stretches_of(const config::Config& config);
// Replaces post_local by all_reduce and local. REQUIRES: only the first may be post_local.
std::vector<Stretch> without_post_local(std::vector<Stretch> all);

}  // namespace trireme::parallel
