// The settings of [balance]: how much of each step every rank gets, and how often ranks compare
// their speeds.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/fields.h"
#include "trireme/base/config/schema.h"

namespace trireme::train {

inline constexpr const char* kBalanceSection = "balance";

enum class BalanceKind {
  Off,           // the same share for every rank
  Static,        // shares are given in the recipe
  Proportional,  // shares are proportional to measured speeds
  LeastLoaded,   // work moves step by step from the slowest to the fastest rank
};

struct BalanceConfig {
  std::int64_t every = 20;
  int drop_stragglers = 0;

  static void describe(config::Fields<BalanceConfig>& f) {
    f.add("drop_stragglers", &BalanceConfig::drop_stragglers)
        .at_least(0)
        .unit("ranks")
        .help("late ranks that a step may exclude; the next step runs their samples");
    f.add("every", &BalanceConfig::every)
        .at_least(0)
        .unit("steps")
        .help("between two comparisons of all ranks' speeds; 0: never, and no straggler is named");
  }
};

template <BalanceKind>
struct BalanceKindConfig {
  static void describe(config::Fields<BalanceKindConfig>&) {}
};

struct StaticBalanceConfig {
  std::vector<double> weights{};

  static void describe(config::Fields<StaticBalanceConfig>& f) {
    f.add("weights", &StaticBalanceConfig::weights)
        .range(0.001, 1000.0)
        .help("relative share of each rank, in rank order");
  }
};

// The complete settings of a recipe.
struct BalanceSettings {
  BalanceKind kind = BalanceKind::Off;
  std::vector<double> weights{};
  std::int64_t every = 20;
};

void add_balance_section(config::Schema& schema);
BalanceSettings balance_of(const config::Config& config);

}  // namespace trireme::train
