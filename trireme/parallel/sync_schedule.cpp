#include "trireme/parallel/sync_schedule.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/parallel/kinds.h"

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

// Reads "500=local steps=8". Throws InvalidInput.
Stretch read_stretch(const std::string& text) {
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
  if (word == "post_local") {
    refuse("\"" + text +
           "\": post_local is not supported in a schedule; use all_reduce and then local");
  }
  while (words >> word) settings.push_back("sync." + word);
  config::Schema schema;
  add_sync_kinds(schema);
  try {
    const config::Config config = config::read_config(schema, {.overrides = settings});
    Stretch stretch{.begin = *step, .kind = sync_kind_of(config), .pace = pace_of(config)};
    stretch.pace.begin = *step;
    return stretch;
  } catch (const Error& error) {
    refuse("\"" + text + "\": " + error.message());
  }
}

std::vector<Stretch> read_stretches(const std::vector<std::string>& all) {
  std::vector<Stretch> found;
  std::int64_t last = 0;
  for (const std::string& text : all) {
    found.push_back(read_stretch(text));
    if (found.back().begin <= last) {
      refuse("\"" + text + "\": steps must be in ascending order");
    }
    last = found.back().begin;
  }
  return found;
}

}  // namespace

std::string complaint_of_kinds(const std::vector<std::string>& schedule) {
  try {
    read_stretches(schedule);
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

std::vector<Stretch> stretches_of(const config::Config& config) {
  std::vector<Stretch> all{{.kind = sync_kind_of(config), .pace = pace_of(config)}};
  for (Stretch& one : read_stretches(config.get<SyncConfig>(kSyncSection).schedule)) {
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<Stretch> without_post_local(std::vector<Stretch> all) {
  if (all.at(0).kind != SyncKind::PostLocal) return all;
  const std::int64_t begin = all[0].pace.begin;
  all[0].begin = begin;
  all[0].kind = SyncKind::Local;
  if (begin > 0) all.insert(all.begin(), {.kind = SyncKind::AllReduce});
  if (all.back().begin < begin || (all.size() > 2 && all[2].begin <= begin)) {
    refuse(
        "sync.schedule begins before sync.begin of post_local; use sync.kind=all_reduce, and add "
        "local to the schedule");
  }
  return all;
}

}  // namespace trireme::parallel
