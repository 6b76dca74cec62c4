// The rules, means and schedules that a recipe can name: [optim], [average] and [schedule].
//
// Threads: pure.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"
#include "trireme/optim/groups.h"
#include "trireme/optim/optimizer.h"
#include "trireme/optim/plateau.h"
#include "trireme/optim/schedule.h"

namespace trireme::optim {

inline constexpr const char* kOptimSection = "optim";
inline constexpr const char* kAverageSection = "average";
inline constexpr const char* kScheduleSection = "schedule";

// These sections, with a kind for each rule, mean and schedule.
void add_optim_sections(config::Schema& schema);

// With the mean that [average] names.
std::unique_ptr<Optimizer> make_optimizer(const config::Config& config);
bool has_average(const config::Config& config);

// `steps` is how many the whole job makes.
Schedule make_schedule(const config::Config& config, std::int64_t steps);

// Nothing unless [schedule] is reduce_on_plateau.
std::optional<Plateau> make_plateau(const config::Config& config, bool is_larger_better);

// The kind's own numbers, whichever kind it is.
double learning_rate_of(const config::Config& config);
double weight_decay_of(const config::Config& config);

}  // namespace trireme::optim
