// What a resumed job reads from its checkpoint before it opens its data: the settings, which are
// compared with those of the recipe, and the preprocessing, which is used again.
//
// Errors:        accept_changes() throws InvalidInput for settings that differ; find_record()
//                throws what reading throws, except for damaged checkpoints, which it skips.
// Thread safety: any thread; functions only read files.

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

// The contents of a job's newest checkpoint, without its tensors.
struct JobRecord {
  std::filesystem::path path;  // the checkpoint's
  Progress progress;
  // Nullopt if the program that wrote the checkpoint did not save it.
  std::optional<data::Preprocessing> data;
};

// `job` is the job's folder. Nullopt if it has no checkpoint that can be opened.
std::optional<JobRecord> find_record(const std::filesystem::path& job,
                                     const config::Config& config);

// The keys of --allow-changes, separated by commas. Throws InvalidInput for a key that a resumed
// job may not change, and suggests the most similar key that it may.
std::vector<std::string> allowed_changes(const std::string& keys, const config::Config& config);

// Returns a text that names the settings which differ from those of a checkpoint. Throws for
// settings that the user does not allow to change, or that cannot change.
std::string accept_changes(const std::filesystem::path& checkpoint, const Progress& saved,
                           const config::Config& config, const std::vector<std::string>& allowed);

// Training data that now have fewer samples (`count`) may end before the checkpoint's position in
// its epoch; the job then continues with the next epoch. Returns a message about that, or an empty
// text if no samples are missing.
std::string skip_missing_samples(Progress& progress, std::int64_t count);

// Throws InvalidInput if the training data, as they are now, differ from those that the checkpoint
// was trained on: the weights would be trained on other numbers than before.
void refuse_other_data(const checkpoint::Checkpoint& from, const data::Preprocessing& now);

}  // namespace trireme::train
