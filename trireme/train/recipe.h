// A recipe is a whole job in one TOML file. Kinds is what a worker can make of it: its models and
// its data, to which a program adds its own.
//
// Threads: pure.

#pragma once

#include <memory>
#include <string>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"
#include "trireme/data/registry.h"
#include "trireme/data/source.h"
#include "trireme/model/loss.h"
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

// The loss that [loss] names; by default what fits the data. Weights that follow from how often
// classes occur are counted in `train`, which is needed for those alone.
std::shared_ptr<const model::Loss> make_loss(const config::Config& config, const data::Form& form,
                                             const data::Source* train = nullptr);

// The model's own where it brings one, else make_loss(). InvalidInput where [loss] names another.
std::shared_ptr<const model::Loss> loss_of(const config::Config& config, const model::Model& model,
                                           const data::Form& form,
                                           const data::Source* train = nullptr);

// Of everything that decides a result: equal hashes may resume each other's checkpoints. How long
// to train, what to look at and how ranks agree do not count.
std::string job_hash(const config::Config& config);
// Of every setting: those who train together have the same.
std::string recipe_hash(const config::Config& config);

// Of these settings, those in which a resolved recipe differs from a configuration, for people:
// "train.batch (10, now 11), optim.kind (adamw, now sgd)".
std::string differences(const std::string& resolved, const config::Config& config);
// Of all settings.
std::string all_differences(const std::string& resolved, const config::Config& config);

}  // namespace trireme::train
