// The rules and schedules that a recipe can name: [optim] and [schedule].
//
// Threads: pure.

#pragma once

#include <cstdint>
#include <memory>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"
#include "trireme/optim/groups.h"
#include "trireme/optim/optimizer.h"
#include "trireme/optim/schedule.h"

namespace trireme::optim {

inline constexpr const char* kOptimSection = "optim";
inline constexpr const char* kScheduleSection = "schedule";

// [optim] adamw, adam, sgd; [schedule] constant, step, linear, cosine.
void add_optim_sections(config::Schema& schema);

std::unique_ptr<Optimizer> make_optimizer(const config::Config& config);

// `steps` is how many the whole job makes.
Schedule make_schedule(const config::Config& config, std::int64_t steps);

// The kind's own numbers, whichever kind it is.
double learning_rate_of(const config::Config& config);
double weight_decay_of(const config::Config& config);

}  // namespace trireme::optim
