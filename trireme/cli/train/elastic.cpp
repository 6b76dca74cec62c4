#include "trireme/cli/train/elastic.h"

#include <string_view>
#include <variant>

#include "trireme/base/config/read_value.h"
#include "trireme/comm/timeouts.h"

namespace trireme::cli {
namespace {

// Returns nullopt if the worker has no such setting.
template <class T>
std::optional<T> said(const config::Config& config, std::string_view key) {
  const config::Setting* setting = config.setting(key);
  if (setting == nullptr) return std::nullopt;
  const T* value = std::get_if<T>(&setting->value.content);
  return value != nullptr ? std::optional<T>(*value) : std::nullopt;
}

}  // namespace

cluster::launch::Elastic elastic_settings(const config::Config& config) {
  cluster::launch::Elastic elastic;
  if (const auto number = said<std::int64_t>(config, "elastic.min_workers")) {
    elastic.least = static_cast<int>(*number);
  }
  if (const auto number = said<std::int64_t>(config, "elastic.max_workers")) {
    elastic.most = static_cast<int>(*number);
  }
  if (const auto number = said<std::int64_t>(config, "elastic.max_restarts")) {
    elastic.restarts_max = static_cast<int>(*number);
  }
  if (const config::Setting* timeout = config.setting("elastic.orphan_timeout")) {
    elastic.orphan_timeout = config::read_duration(timeout->value);
  }
  if (const config::Setting* heartbeat = config.setting("elastic.heartbeat")) {
    elastic.heartbeat = config::read_duration(heartbeat->value);
  }
  if (const config::Setting* timeout = config.setting("sync.timeout")) {
    elastic.join_max = comm::Timeouts{config::read_duration(timeout->value)}.files();
  }
  return elastic;
}

std::optional<cluster::launch::Elastic> elastic_of(const config::Config& config) {
  if (!said<bool>(config, "elastic.enabled").value_or(false)) return std::nullopt;
  return elastic_settings(config);
}

std::vector<std::string> elastic_overrides(const config::Config& config,
                                           const cluster::launch::JobSpec& spec) {
  if (config.setting("elastic.enabled") == nullptr) return {};
  std::vector<std::string> all{"elastic.enabled=true",
                               "elastic.min_workers=" + std::to_string(spec.elastic->least),
                               "elastic.max_workers=" + std::to_string(spec.elastic->most)};
  const bool is_spread = spec.hosts && spec.hosts->list.size() > 1;
  if (is_spread && config.setting("elastic.spread") != nullptr) {
    all.emplace_back("elastic.spread=true");
  }
  return all;
}

}  // namespace trireme::cli
