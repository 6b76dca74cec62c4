// The synchronization strategies of a job by step: first sync.kind, then those of sync.schedule.
//
//   kind = "all_reduce"
//   schedule = ["500=local steps=8", "2000=all_reduce"]
//
// Errors:        InvalidInput for an invalid schedule.
// Thread safety: pure functions.

#pragma once

#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/parallel/strategies.h"
#include "trireme/parallel/sync_options.h"

namespace trireme::parallel {

// At least one; the first begins at step 0.
std::vector<Stretch> stretches_of(const config::Config& config, const Strategies& strategies);

// Describes what is wrong with sync.schedule; "" if nothing is.
std::string complaint_of_schedule(const std::vector<std::string>& schedule,
                                  const Strategies& strategies);

}  // namespace trireme::parallel
