// [balance]: how much of each step a rank gets, and how often that is looked at.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/fields.h"
#include "trireme/base/config/schema.h"

namespace trireme::train {

inline constexpr const char* kBalanceSection = "balance";

enum class BalanceKind {
  Off,           // all ranks alike
  Static,        // as the recipe says
  Proportional,  // as fast as each turned out to be
  LeastLoaded,   // a little from the slowest to the fastest, again and again
};

struct BalanceConfig {
  std::int64_t every = 20;
  int drop_slowest = 0;

  static void describe(config::Fields<BalanceConfig>& f) {
    f.add("drop_slowest", &BalanceConfig::drop_slowest)
        .at_least(0)
        .unit("ranks")
        .help("that a step goes on without where they are late; their samples come in the next");
    f.add("every", &BalanceConfig::every)
        .at_least(0)
        .unit("steps")
        .help("between two looks at the speed of all ranks; 0: never, and nobody slow is named");
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
        .help("of the ranks, in their order");
  }
};

// All of it, as a recipe has it.
struct BalanceSettings {
  BalanceKind kind = BalanceKind::Off;
  std::vector<double> weights{};
  std::int64_t every = 20;
};

void add_balance_section(config::Schema& schema);
BalanceSettings balance_of(const config::Config& config);

}  // namespace trireme::train
