// TrainedModel is a job that was trained, opened again: its recipe, its data and its weights.
//
// Failure: NotFound where there is no checkpoint; InvalidInput where it does not fit the model in
//          every name and size; what reading throws.
// Threads: one.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/data/registry.h"
#include "trireme/model/model.h"
#include "trireme/train/recipe.h"

namespace trireme::train {

struct TrainedModel {
  std::filesystem::path folder;  // the job's
  config::Config config;
  data::Sets sets{};
  std::shared_ptr<model::Model> model{};
  std::int64_t step = 0;
};

struct TrainedModelOptions {
  std::filesystem::path folder;             // the job's; its config.toml says what the model is
  std::optional<std::int64_t> step = {};    // which checkpoint; or: the newest whole one
  std::vector<std::string> overrides = {};  // settings that change the recipe's
};

TrainedModel open_trained(const TrainedModelOptions& options, const Kinds& kinds);

// The steps of a job's last `count` checkpoints, the newest first. NotFound where there are fewer.
std::vector<std::int64_t> last_steps(const std::filesystem::path& job, std::int64_t count);

}  // namespace trireme::train
