#include "trireme/train/balance/balance_config.h"

namespace trireme::train {

void add_balance_section(config::Schema& schema) {
  schema.section(kBalanceSection, "how much of a step each rank gets")
      .fields<BalanceConfig>()
      .kind<BalanceKindConfig<BalanceKind::Off>>("off", "all ranks alike")
      .kind<StaticBalanceConfig>("static", "as weights says")
      .kind<BalanceKindConfig<BalanceKind::Proportional>>("proportional",
                                                          "as fast as each turns out to be")
      .kind<BalanceKindConfig<BalanceKind::LeastLoaded>>(
          "least_loaded", "a little from the slowest to the fastest, again and again");
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
