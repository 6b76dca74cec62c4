// A recipe is a whole job in one TOML file. Kinds is what a worker can make of it: its models and
// its data, to which a program adds its own.
//
// Threads: pure.

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
#include "trireme/model/registry.h"

namespace trireme::train {

struct Kinds {
  model::Registry models;
  data::Registry data;
};

// All that Trireme brings.
Kinds built_in_kinds();

// Every section of a recipe, in the order in which people read them.
config::Schema recipe_schema(const Kinds& kinds);

// Says how many training samples each class has.
using CountClasses = std::function<std::vector<std::int64_t>()>;
// By reading the targets of all samples.
std::vector<std::int64_t> class_counts_of(const data::Source& train);

// The loss that [loss] names; by default what fits the data. `count` is called where weights follow
// from how often classes occur.
std::shared_ptr<const model::Loss> make_loss(const config::Config& config, const data::Form& form,
                                             const CountClasses& count = {});

// The model's own where it brings one, else make_loss(). InvalidInput where [loss] names another.
std::shared_ptr<const model::Loss> loss_of(const config::Config& config, const model::Model& model,
                                           const data::Form& form, const CountClasses& count = {});

// Of everything that decides a result: equal hashes may resume each other's checkpoints. How long
// to train, what to look at and how ranks agree do not count.
std::string job_hash(const config::Config& config);
// Of every setting: those who train together have the same.
std::string recipe_hash(const config::Config& config);

// A setting in which a resolved recipe differs from a configuration.
struct SettingChange {
  std::string key;
  std::string text;  // for people: "train.batch (10, now 11)"
};
// Of the settings that decide a result.
std::vector<SettingChange> differences(const std::string& resolved, const config::Config& config);
// Of all settings.
std::vector<SettingChange> all_differences(const std::string& resolved,
                                           const config::Config& config);
// Their texts, parted by commas.
std::string to_text(const std::vector<SettingChange>& changes);
// Whether a job may be resumed with another value of a setting that decides its result, where the
// user says so: what a checkpoint holds keeps its meaning. docs/training.md lists these settings.
bool can_change(const std::string& key);

}  // namespace trireme::train
