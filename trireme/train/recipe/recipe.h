// A recipe describes a whole job in one TOML file. Kinds lists the models, the data formats, the
// losses and the synchronization strategies that a worker supports; a program can add its own.
//
// Errors:        InvalidInput for settings that contradict each other or the data.
// Thread safety: pure functions.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"
#include "trireme/data/registry.h"
#include "trireme/data/source/source.h"
#include "trireme/model/loss/loss.h"
#include "trireme/model/loss/loss_registry.h"
#include "trireme/model/registry.h"
#include "trireme/parallel/strategies.h"

namespace trireme::train {

struct Kinds {
  model::ModelRegistry models;
  data::DataRegistry data;
  parallel::Strategies strategies = parallel::built_in_strategies();
  model::LossRegistry losses;  // of the program; recipe_schema() has the built-in ones
};

// All models, data formats and synchronization strategies of Trireme.
Kinds built_in_kinds();

// All sections of a recipe, in the order of the documentation.
config::Schema recipe_schema(const Kinds& kinds);

// Returns the number of training samples of each class.
using CountClasses = std::function<std::vector<std::int64_t>()>;
// Counts the classes by reading the targets of all samples.
std::vector<std::int64_t> class_counts_of(const data::Source& train);

// The loss that [loss] names; by default the usual one for the data. `count` is called if class
// weights depend on the frequency of classes.
std::shared_ptr<const model::Loss> make_loss(const config::Config& config, const Kinds& kinds,
                                             const data::Form& form,
                                             const CountClasses& count = {});

// The model's own loss if it has one, otherwise make_loss(). Throws InvalidInput if the model has
// its own loss and [loss] names another.
std::shared_ptr<const model::Loss> loss_of(const config::Config& config, const Kinds& kinds,
                                           const model::Model& model, const data::Form& form,
                                           const CountClasses& count = {});

// A hash of the settings that affect the result. Jobs with equal hashes may resume each other's
// checkpoints. The duration, evaluations and the synchronization strategy are not part of it.
std::string job_hash(const config::Config& config);
// A hash of every setting, which must be equal on all ranks of a job.
std::string recipe_hash(const config::Config& config);

// A setting in which a resolved recipe differs from a configuration.
struct SettingChange {
  std::string key;
  std::string text;  // for messages: "train.global_batch_size (10, now 11)"
};
// The differences in settings that affect the result.
std::vector<SettingChange> differences(const std::string& resolved, const config::Config& config);
// The differences in all settings.
std::vector<SettingChange> all_differences(const std::string& resolved,
                                           const config::Config& config);
// The texts of the changes, separated by commas.
std::string to_text(const std::vector<SettingChange>& changes);
// Whether a job may be resumed with another value of a setting that affects its result, if the user
// allows it. The content of a checkpoint keeps its meaning. docs/training.md lists these settings.
bool can_change(const std::string& key);

}  // namespace trireme::train
