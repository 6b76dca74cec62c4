// Job is a recipe made real on this rank: data opened, model built and given its first weights,
// loss, agreement and loader ready for the first step.
//
// Threads: one.
// Failure: what opening the data, sizing the model and connecting throw; nothing was written.

#pragma once

#include <memory>
#include <string>

#include "trireme/base/config/config.h"
#include "trireme/base/fault.h"
#include "trireme/comm/group.h"
#include "trireme/train/recipe/config.h"
#include "trireme/train/recipe/data_digest.h"
#include "trireme/train/recipe/recipe.h"
#include "trireme/train/step.h"

namespace trireme::train {

struct Job {
  config::Config config;
  comm::Group group;
  data::Sets sets{};
  DataDigest data{};  // of sets
  std::shared_ptr<model::Model> model{};
  std::shared_ptr<const model::Loss> loss{};
  std::unique_ptr<Step> step{};
  std::int64_t steps = 0;  // to make in all
  std::int64_t steps_an_epoch = 0;
  double flops_a_sample = 0;
  std::string hash{};

  const TrainConfig& train() const { return config.get<TrainConfig>("train"); }
  const EvalConfig& eval() const { return config.get<EvalConfig>("eval"); }
  const CheckpointConfig& checkpoint() const { return config.get<CheckpointConfig>("checkpoint"); }
  data::Loader& loader() const { return *step->parts().loader; }
  parallel::GradientSync& gradient_sync() const { return *step->parts().gradient_sync; }
  // From the next step on; the loader goes on where it is. Without weights slots are alike.
  void assign(std::vector<int> owners, std::vector<std::int64_t> weights = {});
  // By slot, for the group as it is.
  std::vector<int> fair_owners() const;
  // A slot's gradient is not that of its pieces: by rounding, or because a pass makes statistics.
  bool has_fixed_micro_batches() const;
};

struct JobOptions {
  // Ranks may come and go: nobody meets anybody here, and the agreement is ElasticSync.
  bool is_elastic = false;
  bool is_spread = false;  // over several hosts
  // What the checkpoint that is resumed knows of its data; null: the job begins.
  const data::Preprocessing* known = nullptr;
  Faults* faults = nullptr;
};

// The model alone, with its first weights, which are a function of train.seed: enough to evaluate
// or generate. What model.load names is not read.
std::shared_ptr<model::Model> make_model(const config::Config& config, const Kinds& kinds,
                                         const data::Form& form);

Job open_job(const config::Config& config, const Kinds& kinds,
             const comm::Group& group = comm::Group::solo(), const JobOptions& options = {});

}  // namespace trireme::train
