#include "trireme/parallel/sync_schedule.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/parallel/sync_config.h"

namespace trireme::parallel {
namespace {

std::optional<std::int64_t> step_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && number > 0 ? std::optional(number) : std::nullopt;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::InvalidInput, what);
}

// The strategy that [sync] selects, with its settings.
Stretch selected(const config::Config& config, const Strategies& strategies) {
  const Strategy& strategy = strategies.named(config.kind(kSyncSection));
  Stretch stretch{.kind = strategy.name, .settings = strategy.read(config)};
  if (strategy.pace) stretch.pace = strategy.pace(stretch.settings);
  return stretch;
}

// Reads "500=local steps=8". Throws InvalidInput.
Stretch read_stretch(const std::string& text, const Strategies& strategies) {
  const std::size_t at = text.find('=');
  const auto step = step_in(std::string_view(text).substr(0, at));
  std::istringstream words(at == std::string::npos ? "" : text.substr(at + 1));
  std::string word;
  std::vector<std::string> settings;
  if (words >> word) settings.push_back("sync.kind=" + word);
  if (!step || settings.empty()) {
    refuse("\"" + text +
           "\": expected \"step=kind\", as in \"500=local\" or \"500=local steps=8\"");
  }
  while (words >> word) settings.push_back("sync." + word);
  config::Schema schema;
  strategies.add_kinds(schema);
  try {
    const config::Config config = config::read_config(schema, {.overrides = settings});
    Stretch stretch = selected(config, strategies);
    const Strategy& strategy = strategies.named(stretch.kind);
    if (strategy.can.is_sequence) {
      refuse(strategy.name + " (" + strategy.help +
             ") is not supported in a schedule; use its parts");
    }
    stretch.begin = stretch.pace.begin = *step;
    return stretch;
  } catch (const Error& error) {
    refuse("\"" + text + "\": " + error.message());
  }
}

std::vector<Stretch> read_stretches(const std::vector<std::string>& all,
                                    const Strategies& strategies) {
  std::vector<Stretch> found;
  std::int64_t last = 0;
  for (const std::string& text : all) {
    found.push_back(read_stretch(text, strategies));
    if (found.back().begin <= last) {
      refuse("\"" + text + "\": steps must be in ascending order");
    }
    last = found.back().begin;
  }
  return found;
}

}  // namespace

std::string complaint_of_schedule(const std::vector<std::string>& schedule,
                                  const Strategies& strategies) {
  try {
    read_stretches(schedule, strategies);
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

std::vector<Stretch> stretches_of(const config::Config& config, const Strategies& strategies) {
  std::vector<Stretch> all{selected(config, strategies)};
  const auto& schedule = config.get<SyncConfig>(kSyncSection).schedule;
  for (Stretch& one : read_stretches(schedule, strategies)) all.push_back(std::move(one));
  return all;
}

}  // namespace trireme::parallel
