// TrainedModel is a job that was trained, opened again: its recipe, its weights, and what it knows
// of the data that it was trained on. These data need not be there any more.
//
// Settings: those of the checkpoint's meta, which a key signs, and the user's overrides. The
//          config.toml of the job's folder only says where the key is; where it differs, that is
//          said on standard error.
// Failure: NotFound where there is no checkpoint; Corrupt where the one that was named is damaged;
//          InvalidInput where it does not fit the model in
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
#include "trireme/comm/timeouts.h"
#include "trireme/data/registry.h"
#include "trireme/model/model.h"
#include "trireme/train/recipe/recipe.h"

namespace trireme::train {

struct TrainedModel {
  std::filesystem::path folder;  // the job's
  config::Config config;
  data::Preprocessing data{};
  std::shared_ptr<const data::Source> test{};  // what is evaluated on, where that was asked for
  std::shared_ptr<model::Model> model{};
  std::int64_t step = 0;

  comm::Timeouts timeouts() const;  // of its recipe
};

struct TrainedModelOptions {
  std::filesystem::path folder;  // the job's
  // Which checkpoint; neither of them: the newest whole one. Damaged ones that are skipped are
  // named on standard error.
  std::optional<std::int64_t> step = {};
  bool is_best = false;                     // by eval.metric, as the job evaluated it
  std::vector<std::string> overrides = {};  // settings that change the recipe's
  bool has_test = false;                    // open what is evaluated on as well
};

TrainedModel open_trained(const TrainedModelOptions& options, const Kinds& kinds);

// The steps of a job's last `count` checkpoints, the newest first. NotFound where there are fewer.
std::vector<std::int64_t> last_steps(const std::filesystem::path& job, std::int64_t count);

}  // namespace trireme::train
