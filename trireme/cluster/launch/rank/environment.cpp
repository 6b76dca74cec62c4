#include "trireme/cluster/launch/rank/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace trireme::cluster::launch {
namespace {

constexpr std::array<std::string_view, 2> kThreadVariables{"OMP_NUM_THREADS", "MKL_NUM_THREADS"};

bool is_named(const std::string& variable, std::string_view name) {
  return variable.size() > name.size() && variable[name.size()] == '=' &&
         variable.starts_with(name);
}

// Whether the user set this variable, rather than an outer `trireme run`.
bool is_wanted(const EnvironmentVariables& environment, std::string_view name) {
  const auto value = find(environment, name);
  return value && !value->empty() && value != find(environment, "TRIREME_THREADS");
}

}  // namespace

EnvironmentVariables own_environment() {
  EnvironmentVariables environment;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  return environment;
}

std::optional<std::string_view> find(const EnvironmentVariables& environment,
                                     std::string_view name) {
  for (const std::string& variable : environment) {
    if (is_named(variable, name)) return std::string_view(variable).substr(name.size() + 1);
  }
  return std::nullopt;
}

void set(EnvironmentVariables& environment, std::string_view name, std::string_view value) {
  std::erase_if(environment, [&](const std::string& other) { return is_named(other, name); });
  environment.push_back(std::string(name).append("=").append(value));
}

int threads_wanted(const EnvironmentVariables& environment) {
  constexpr std::string_view kName = kThreadVariables[0];
  if (!is_wanted(environment, kName)) return 0;
  const std::string_view text = *find(environment, kName);
  int threads = 0;
  // OpenMP allows "4,2" for nested regions; the outermost one counts.
  std::from_chars(text.data(), text.data() + text.size(), threads);
  return std::max(threads, 0);
}

EnvironmentVariables environment_of(const RankPlace& place, EnvironmentVariables inherited) {
  // TRIREME_SECRET would override the secret file, and no rank of this job serves the store.
  std::erase_if(inherited, [](const std::string& text) {
    constexpr std::array<std::string_view, 7> kOthers{
        "TRIREME_SECRET",  "TRIREME_STORE_RANK",     "TRIREME_WORKER", "TRIREME_FEED",
        "TRIREME_ELASTIC", "TRIREME_ORPHAN_TIMEOUT", "TRIREME_ADDRESS"};
    return std::any_of(kOthers.begin(), kOthers.end(),
                       [&](std::string_view name) { return is_named(text, name); });
  });
  const std::string threads = std::to_string(place.threads);
  for (const std::string_view name : kThreadVariables) {
    if (!is_wanted(inherited, name)) set(inherited, name, threads);
  }
  set(inherited, "TRIREME_THREADS", threads);
  set(inherited, "TRIREME_RANK", std::to_string(place.rank));
  set(inherited, "TRIREME_SIZE", std::to_string(place.size));
  set(inherited, "TRIREME_LOCAL_RANK",
      std::to_string(place.share.value_or(place.rank - place.first)));
  const int local_size = place.local_size > 0 ? place.local_size : place.size;
  set(inherited, "TRIREME_LOCAL_SIZE", std::to_string(local_size));
  set(inherited, "TRIREME_JOB", place.job);
  // An elastic job's store outlives its launcher.
  const char* socket = place.share ? "store.sock" : "control.sock";
  const std::string own = "unix:" + (place.folder / socket).string();
  set(inherited, "TRIREME_STORE", place.store.empty() ? own : place.store);
  set(inherited, "TRIREME_JOB_FOLDER", place.folder.string());
  set(inherited, "TRIREME_SECRET_FILE", (place.folder / "secret").string());
  if (!place.feed.empty()) set(inherited, "TRIREME_FEED", place.feed);
  if (!place.address.empty()) set(inherited, "TRIREME_ADDRESS", place.address);
  if (place.share) {
    const double timeout = std::chrono::duration<double>(place.orphan_timeout).count();
    set(inherited, "TRIREME_WORKER", std::to_string(place.rank));
    set(inherited, "TRIREME_ELASTIC", "1");
    set(inherited, "TRIREME_ORPHAN_TIMEOUT", std::to_string(timeout));
  }
  return inherited;
}

}  // namespace trireme::cluster::launch
