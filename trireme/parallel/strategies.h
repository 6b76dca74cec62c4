// Strategies is the list of synchronization strategies (sync.kind). Settings are checked against
// their records, and error messages, the schema of recipes and the reference page
// (docs/strategies.md) are generated from them. A program can add its own:
//
//   Strategies all = built_in_strategies();
//   all.add<SignConfig>({.name = "sign",
//                        .help = "the sign of each gradient",
//                        .can = {.commits_every_step = true},
//                        .make = [](const SignConfig& config, SyncOptions options) { ... }});
//
// A file trireme/parallel/strategy/<name>.cpp adds a built-in one; it defines
// `void add_<name>(Strategies& all)`, and the build finds it.
//
// Thread safety: filled by one thread, then read by any thread.
// Errors:        Misuse for a name that is already used.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "trireme/base/config/schema.h"
#include "trireme/parallel/strategy.h"
#include "trireme/parallel/sync_config.h"

namespace trireme::parallel {

class Strategies {
 public:
  template <class Config = NoSettings>
  void add(StrategyRecord<Config> record);

  const std::vector<std::shared_ptr<const Strategy>>& all() const noexcept { return all_; }
  // Throws InvalidInput for a name that does not exist.
  const Strategy& named(std::string_view name) const;
  // "all_reduce, zero1": the strategies, but not the default, for which `is_named` returns true.
  std::string names(const std::function<bool(const Strategy&)>& is_named) const;

  // [sync]: the common settings, one kind for each strategy, and what cannot be combined.
  void add_section(config::Schema& schema) const;
  // Only the kinds.
  void add_kinds(config::Schema& schema) const;

  // Throws InvalidInput if the strategy does not support a setting, or if two settings contradict
  // each other; the message names the strategies that support all of them.
  void check(const Strategy& strategy, const SyncOptions& options) const;

 private:
  void add_entry(Strategy entry);

  std::vector<std::shared_ptr<const Strategy>> all_;
};

Strategies built_in_strategies();

// docs/strategies.md.
std::string strategies_page(const Strategies& strategies);

template <class Config>
void Strategies::add(StrategyRecord<Config> record) {
  using Settings = std::shared_ptr<const void>;
  const auto typed = [](const Settings& settings) -> Config {
    return settings ? *static_cast<const Config*>(settings.get()) : Config{};
  };
  const bool has_replicas_at_times = static_cast<bool>(record.has_replicas);
  Strategy entry{{.name = record.name,
                  .help = record.help,
                  .can = record.can,
                  .has_replicas = record.has_replicas ? std::move(record.has_replicas)
                                                      : [has = record.can.has_replicas](
                                                            const SyncOptions&) { return has; },
                  .expand = std::move(record.expand),
                  .is_default = record.is_default}};
  entry.has_replicas_at_times = has_replicas_at_times;
  if (record.make) {
    entry.make = [typed, make = std::move(record.make)](const Settings& settings,
                                                        SyncOptions options) {
      return make(typed(settings), std::move(options));
    };
  }
  if constexpr (std::is_base_of_v<local::RoundSettings, Config>) {
    if (!record.pace) record.pace = std::identity();
  }
  if (record.pace) {
    entry.pace = [typed, pace = std::move(record.pace)](const Settings& settings) {
      return pace(typed(settings));
    };
  }
  entry.declare = [name = record.name, help = record.help](config::Section& section) {
    section.kind<Config>(name, help);
  };
  entry.read = [](const config::Config& config) -> Settings {
    return std::make_shared<Config>(config.get<Config>(kSyncSection));
  };
  add_entry(std::move(entry));
}

}  // namespace trireme::parallel
