// The rules, means and schedules that a recipe can name: [optim], [optim.second], [average] and
// [schedule].
//
// Threads: pure.

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
#include "trireme/optim/plateau.h"
#include "trireme/optim/schedule.h"

namespace trireme::optim {

inline constexpr const char* kOptimSection = "optim";
inline constexpr const char* kSecondSection = "optim.second";
inline constexpr const char* kAverageSection = "average";
inline constexpr const char* kScheduleSection = "schedule";

// These sections, with a kind for each rule, mean and schedule.
void add_optim_sections(config::Schema& schema);

// With the second rule, where there is one, and the mean that [average] names. InvalidInput where
// of a second rule only its kind is given, or only its names.
std::unique_ptr<Optimizer> make_optimizer(const config::Config& config);
bool has_average(const config::Config& config);

// `steps` is how many the whole job makes.
Schedule make_schedule(const config::Config& config, std::int64_t steps);

// Nothing unless [schedule] is reduce_on_plateau.
std::optional<Plateau> make_plateau(const config::Config& config, bool is_larger_better);

// The kind's own numbers, whichever kind it is.
double learning_rate_of(const config::Config& config);
double weight_decay_of(const config::Config& config);

// What [optim.second] is for: weights of these names, at so many times the first rule's rate.
struct SecondRule {
  std::vector<std::string> names;
  double rate_factor = 1;
  double weight_decay = 0;

  bool is_for(std::string_view name) const;
};
std::optional<SecondRule> second_rule_of(const config::Config& config);

}  // namespace trireme::optim
