// What a resumed job takes over from its checkpoint before its data are opened: the settings are
// compared, and what was learned from the data is used again.
//
// Threads: pure, but for reading files.
// Errors:  accept_changes() throws InvalidInput for settings that differ; find_record() what
//          reading throws, but for damaged checkpoints, which it passes over.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/data/preprocessing.h"
#include "trireme/train/report/checkpoint_meta.h"

namespace trireme::train {

// What the newest checkpoint of a job says of it, beside its tensors.
struct JobRecord {
  std::filesystem::path path;  // the checkpoint's
  Progress progress;
  // Nothing where the checkpoint's writer did not save it.
  std::optional<data::Preprocessing> data;
};

// `job` is the job's folder. Nothing where it has no checkpoint that can be opened.
std::optional<JobRecord> find_record(const std::filesystem::path& job,
                                     const config::Config& config);

// The keys of --allow-changes, separated by commas. Throws InvalidInput for a key that a resumed
// job may not change, with the nearest one that it may.
std::vector<std::string> allowed_changes(const std::string& keys, const config::Config& config);

// Says which settings differ from those of a checkpoint. Refuses those that the user does not
// allow, or that cannot change.
std::string accept_changes(const std::filesystem::path& checkpoint, const Progress& saved,
                           const config::Config& config, const std::vector<std::string>& allowed);

// Data that have fewer samples than before, `count`, may end before the checkpoint's position in
// its epoch: the job goes on with the next one. Says so; empty where nothing is missing.
std::string skip_missing_samples(Progress& progress, std::int64_t count);

// Throws InvalidInput if the training data, as they are now, differ from those that the checkpoint
// was trained on: the weights would be trained on other numbers than before.
void refuse_other_data(const checkpoint::Checkpoint& from, const data::Preprocessing& now);

}  // namespace trireme::train
