#include "trireme/cli/train/restart.h"

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "trireme/checkpoint/format/folder.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;

// The first of PATH, PATH-2, PATH-3 and so on for which `is_taken` is false.
template <class IsTaken>
fs::path first_free(const fs::path& first, const IsTaken& is_taken) {
  fs::path path = first;
  for (int i = 2; is_taken(path); ++i) path = first.string() + "-" + std::to_string(i);
  return path;
}

// The step of the checkpoint that helps, -1 if none does; nullopt if the event is missing.
std::optional<std::int64_t> helpful_step(const fs::path& events) {
  std::optional<std::int64_t> step;
  std::ifstream file(events);
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || json.value("event", "") != "diverged") continue;
    const auto found = json.find("continue_from");
    if (found != json.end() && found->is_number_integer()) step = found->get<std::int64_t>();
  }
  return step;
}

}  // namespace

fs::path free_job_folder(const fs::path& first) {
  return first_free(first, [](const fs::path& path) { return fs::exists(path / "config.toml"); });
}

Restart restart_after_divergence(const Continuation& newest) {
  Restart restart{.rest = newest, .words = "continue with"};
  if (!newest.has_checkpoint) {
    restart.words = "there is no checkpoint; begin again with";
    return restart;
  }
  const fs::path job = newest.folder / newest.output;
  const std::optional<std::int64_t> step = helpful_step(job / "events.jsonl");
  if (!step) return restart;
  if (*step < 0) {
    restart.words = "the last checkpoint leads to the same failure; begin a new job with";
    restart.rest.output = free_job_folder(newest.output);
    restart.rest.has_checkpoint = false;
    return restart;
  }
  for (const auto& listed : checkpoint::format::list_checkpoints(job / "checkpoints")) {
    if (listed.step <= *step) continue;
    const fs::path from = newest.output / "checkpoints" / listed.path.filename();
    const auto is_taken = [&](const fs::path& path) { return fs::exists(newest.folder / path); };
    restart.rest.moves.push_back(
        {.from = from, .to = first_free(from.string() + ".unused", is_taken)});
  }
  if (!restart.rest.moves.empty()) {
    restart.words = "the last checkpoint leads to the same failure; continue from step " +
                    std::to_string(*step) + " with";
  }
  return restart;
}

}  // namespace trireme::cli
