// make_gradient_sync() makes the synchronization strategies that the section [sync] of a recipe
// selects. A job of one rank synchronizes nothing.

#pragma once

#include <memory>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/parallel/gradient_sync.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/strategies.h"
#include "trireme/parallel/sync_config.h"
#include "trireme/parallel/sync_options.h"
#include "trireme/parallel/sync_schedule.h"

namespace trireme::parallel {

// Learning rate, weight decay and rule of a parameter by its name and shape, as in [optim].
Treat treatment_of(const config::Config& config);

// Whether there are other ranks, or may be.
bool is_synchronized(const SyncOptions& options);

// The options of each strategy that the job uses, one after the other. `parameters` and what else
// the model determines may be missing. Throws InvalidInput for a schedule whose steps overlap.
std::vector<SyncOptions> parts_of(const SyncOptions& options, const Strategies& strategies);

// Throws InvalidInput if the settings cannot be combined.
std::shared_ptr<GradientSync> make_gradient_sync(
    SyncOptions options, const Strategies& strategies = built_in_strategies());

}  // namespace trireme::parallel
