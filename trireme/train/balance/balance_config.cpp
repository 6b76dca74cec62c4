#include "trireme/train/balance/balance_config.h"

namespace trireme::train {

void add_balance_section(config::Schema& schema) {
  schema.section(kBalanceSection, "which share of every step each rank gets")
      .fields<BalanceConfig>()
      .kind<BalanceKindConfig<BalanceKind::Off>>("off", "the same share for every rank")
      .kind<StaticBalanceConfig>("static", "shares given by weights")
      .kind<BalanceKindConfig<BalanceKind::Proportional>>("proportional",
                                                          "shares proportional to measured speeds")
      .kind<BalanceKindConfig<BalanceKind::LeastLoaded>>(
          "least_loaded", "work moves step by step from the slowest to the fastest rank");
  schema.refuse({.conditions = {config::is("balance.kind", {{"static"}}),
                                config::is("elastic.enabled", {{true}})},
                 .why = "balance.kind = \"static\" is not supported in elastic jobs, whose ranks "
                        "change; use balance.kind=proportional"});
}

BalanceSettings balance_of(const config::Config& config) {
  BalanceSettings settings{.every = config.get<BalanceConfig>(kBalanceSection).every};
  const std::string& kind = config.kind(kBalanceSection);
  if (kind == "proportional") settings.kind = BalanceKind::Proportional;
  if (kind == "least_loaded") settings.kind = BalanceKind::LeastLoaded;
  if (const auto* fixed = config.find<StaticBalanceConfig>(kBalanceSection)) {
    settings.kind = BalanceKind::Static;
    settings.weights = fixed->weights;
  }
  return settings;
}

}  // namespace trireme::train
