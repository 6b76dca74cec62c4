// TrainedModel is a trained job that was opened again: its recipe, its weights, and the
// preprocessing of its training data. The training data themselves need not exist any more.
//
// Settings:      those in the checkpoint's metadata, which a key signs, and the user's overrides.
//                Only the path of the key comes from the config.toml in the job's folder; other
//                settings in which it differs are reported on standard error.
// Errors:        NotFound if there is no checkpoint; Corrupt if the requested one is damaged;
//                InvalidInput if it does not match the model in every name and size; what reading
//                throws.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/comm/timeouts.h"
#include "trireme/data/registry.h"
#include "trireme/model/model.h"
#include "trireme/train/recipe/recipe.h"

namespace trireme::train {

struct TrainedModel {
  std::filesystem::path folder;  // the job's
  config::Config config;
  data::Preprocessing data{};
  std::shared_ptr<const data::Source> test{};  // the test data, if `has_test` was set
  std::shared_ptr<model::Model> model{};
  std::int64_t step = 0;

  comm::Timeouts timeouts() const;  // of its recipe
};

struct TrainedModelOptions {
  std::filesystem::path folder;  // the job's
  // Which checkpoint to open; by default the newest intact one. Damaged checkpoints that are
  // skipped are reported on standard error.
  std::optional<std::int64_t> step = {};
  bool is_best = false;                     // the best one by eval.metric in the job's evaluations
  std::vector<std::string> overrides = {};  // settings that replace those of the recipe
  bool has_test = false;                    // also open the test data
};

TrainedModel open_trained(const TrainedModelOptions& options, const Kinds& kinds);

// The steps of a job's last `count` checkpoints, newest first. Throws NotFound if there are fewer.
std::vector<std::int64_t> last_steps(const std::filesystem::path& job, std::int64_t count);

}  // namespace trireme::train
