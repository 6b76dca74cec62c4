// The optimizers, averages and schedules that a recipe can name: [optim], [optim.second], [average]
// and [schedule].
//
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"
#include "trireme/optim/groups.h"
#include "trireme/optim/optimizer.h"
#include "trireme/optim/schedule/plateau.h"
#include "trireme/optim/schedule/schedule.h"

namespace trireme::optim {

inline constexpr const char* kOptimSection = "optim";
inline constexpr const char* kSecondSection = "optim.second";
inline constexpr const char* kAverageSection = "average";
inline constexpr const char* kScheduleSection = "schedule";

// Adds these sections, with one kind per optimizer, average and schedule.
void add_optim_sections(config::Schema& schema);

// Includes the second optimizer, if there is one, and the average that [average] names.
// Errors: InvalidInput if only the kind or only the names of a second optimizer are given.
std::unique_ptr<Optimizer> make_optimizer(const config::Config& config);
bool has_average(const config::Config& config);

// `steps` is the total number of steps of the job.
Schedule make_schedule(const config::Config& config, std::int64_t steps);

// `nullopt` unless [schedule] is reduce_on_plateau.
std::optional<Plateau> make_plateau(const config::Config& config, bool is_larger_better);

// The values of the selected kind.
double learning_rate_of(const config::Config& config);
double weight_decay_of(const config::Config& config);

// What [optim.second] applies to: weights with these names, at this multiple of the first
// optimizer's learning rate.
struct SecondRule {
  std::vector<std::string> names;
  double lr_factor = 1;
  double weight_decay = 0;

  bool is_for(std::string_view name) const;
};
std::optional<SecondRule> second_rule_of(const config::Config& config);

}  // namespace trireme::optim
