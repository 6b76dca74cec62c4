#include "trireme/train/resumption.h"

#include <algorithm>
#include <ranges>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/text/nearest.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/data/data_changes.h"
#include "trireme/train/recipe/config.h"
#include "trireme/train/recipe/recipe.h"

namespace trireme::train {
namespace {

[[noreturn]] void refuse_change(const std::string& key, const config::Config& config) {
  const std::size_t dot = key.rfind('.');
  const std::string section = dot == std::string::npos ? "" : key.substr(0, dot);
  std::vector<std::string> names;
  for (const config::Setting& setting : config.settings()) {
    if (setting.section == section && can_change(setting.key())) names.push_back(setting.name);
  }
  const auto meant = nearest(key.substr(dot == std::string::npos ? 0 : dot + 1), names);
  throw Error(ErrorCode::InvalidInput,
              "--allow-changes " + key +
                  (config.setting(key) == nullptr ? ": there is no such setting"
                                                  : ": a resumed job cannot change this setting") +
                  (meant ? "; did you mean " + section + "." + *meant + "? " : ". ") +
                  "docs/training.md lists the settings that can change");
}

}  // namespace

std::optional<JobRecord> find_record(const std::filesystem::path& job,
                                     const config::Config& config) {
  const auto reading = sealing_of(config).reading();
  const auto all = checkpoint::format::list_checkpoints(job / "checkpoints");
  for (const auto& listed : all | std::views::reverse) {
    try {
      const auto from = checkpoint::Checkpoint::open(listed.path, reading);
      return JobRecord{.path = from.path(),
                       .progress = progress_in(from),
                       .data = preprocessing_in(from.meta())};
    } catch (const Error& error) {
      // JobCheckpoints reports damaged checkpoints and sets them aside when it reads the tensors.
      if (error.code() != ErrorCode::Corrupt && error.code() != ErrorCode::NotFound) throw;
    }
  }
  return std::nullopt;
}

std::vector<std::string> allowed_changes(const std::string& keys, const config::Config& config) {
  std::vector<std::string> all;
  std::istringstream rest(keys);
  for (std::string key; std::getline(rest, key, ',');) {
    if (const std::size_t equals = key.find('='); equals != std::string::npos) {
      const std::string name = key.substr(0, equals);
      throw Error(ErrorCode::InvalidInput, "--allow-changes " + key +
                                               ": name only the setting, and give its value beside "
                                               "it: " +
                                               key + " --allow-changes " + name);
    }
    if (!can_change(key)) refuse_change(key, config);
    all.push_back(key);
  }
  return all;
}

std::string accept_changes(const std::filesystem::path& checkpoint, const Progress& saved,
                           const config::Config& config, const std::vector<std::string>& allowed) {
  if (saved.job_hash == job_hash(config)) return {};
  const std::vector<SettingChange> all = differences(saved.recipe, config);
  std::vector<SettingChange> fixed;
  std::string refused;
  for (const SettingChange& one : all) {
    if (!can_change(one.key)) {
      fixed.push_back(one);
    } else if (std::find(allowed.begin(), allowed.end(), one.key) == allowed.end()) {
      refused += (refused.empty() ? "" : ",") + one.key;
    }
  }
  if (fixed.empty() && refused.empty()) return to_text(all);
  throw Error(ErrorCode::InvalidInput,
              checkpoint.string() + " was written with other settings: " + to_text(all) + ". " +
                  (fixed.empty() ? "To resume with the new ones add --allow-changes " + refused +
                                       "; otherwise use those of the checkpoint"
                                 : "A job cannot be resumed with another " + to_text(fixed) +
                                       ": use the value of the checkpoint") +
                  ", or begin a new job with another --output");
}

std::string skip_missing_samples(Progress& progress, std::int64_t count) {
  std::erase_if(progress.returned,
                [&](const data::Returned& part) { return part.samples.end > count; });
  data::Position& at = progress.position;
  if (at.cursor <= count) return {};
  const std::string used = std::to_string(at.cursor) + " of epoch " + std::to_string(at.epoch);
  at = {.epoch = at.epoch + 1, .cursor = 0};
  return "the training data have " + std::to_string(count) + " samples now, and " + used +
         " were used already: continuing with epoch " + std::to_string(at.epoch);
}

void refuse_other_data(const checkpoint::Checkpoint& from, const data::Preprocessing& now) {
  const auto record = preprocessing_in(from.meta());
  if (!record) return;
  data::DataChanges changes = data::changes_between(*record, now);
  auto& all = changes.names;
  all.insert(all.end(), changes.statistics.begin(), changes.statistics.end());
  if (all.empty()) return;
  throw Error(ErrorCode::InvalidInput,
              "the training data differ from those that " + from.path().string() +
                  " was trained on: " + data::joined(all) +
                  ". Restore the data, or begin a new job with another --output");
}

}  // namespace trireme::train
