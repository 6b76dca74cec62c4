// Job holds everything that a recipe needs on this rank: opened data, the model with its initial
// weights, and loss, gradient synchronization and loader, ready for the first step; and the ranks
// as they are now. Those of an elastic job change: Recovery calls regroup() then.
//
// Errors:        InvalidInput for settings that cannot be combined, before the data are opened;
//                what opening the data, building the model and connecting throw. No file was
//                written.
// Thread safety: one thread.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/fault.h"
#include "trireme/base/liveness.h"
#include "trireme/comm/group.h"
#include "trireme/mesh/mesh.h"
#include "trireme/parallel/pipeline/pipeline.h"
#include "trireme/parallel/tensor/tensor_parallel.h"
#include "trireme/train/recipe/config.h"
#include "trireme/train/recipe/data_digest.h"
#include "trireme/train/recipe/recipe.h"
#include "trireme/train/report/progress.h"
#include "trireme/train/step.h"

namespace trireme::train {

inline constexpr const char* kDataAxis = "data";  // its places are data-parallel replicas

struct Job {
  config::Config config;
  comm::Group group;  // all ranks; regroup() changes it
  mesh::Mesh mesh{group, {{.name = kDataAxis, .size = group.size()}}};
  parallel::Strategies strategies;             // those that sync.kind can name
  std::vector<parallel::Stretch> stretches{};  // the strategies of this job
  data::Sets sets{};
  DataDigest data{};     // of sets
  TorchDevice device{};  // of this rank
  std::shared_ptr<model::Model> model{};
  std::shared_ptr<const model::Loss> loss{};
  std::unique_ptr<Step> step{};
  std::int64_t steps = 0;  // of the whole job
  std::int64_t steps_an_epoch = 0;
  double flops_a_sample = 0;
  std::int64_t parameter_count = 0;     // of the whole model, whatever part this rank holds
  parallel::tensor::Layouts layouts{};  // of the parameters that are cut over ranks
  // Of a job whose replicas are divided into stages; otherwise null, and flags are the default.
  std::shared_ptr<parallel::pipeline::Pipeline> pipeline{};
  parallel::CommitFlags flags{};
  std::string hash{};
  bool is_elastic = false;
  bool is_spread = false;      // elastic, over several hosts
  std::vector<int> workers{};  // by rank: the worker numbers of an elastic job; empty in others
  std::string launch_id{};     // of an elastic job; see ElasticWorld::job_id()
  // The progress of this rank. The other workers of an elastic job watch it.
  std::shared_ptr<Liveness> liveness = std::make_shared<Liveness>();

  const TrainConfig& train() const { return config.get<TrainConfig>("train"); }
  const EvalConfig& eval() const { return config.get<EvalConfig>("eval"); }
  const CheckpointConfig& checkpoint() const { return config.get<CheckpointConfig>("checkpoint"); }
  data::Loader& loader() const { return *step->parts().loader; }
  parallel::GradientSync& gradient_sync() const { return *step->parts().gradient_sync; }
  // The data-parallel replica that this rank belongs to.
  int replica() const { return mesh.place(kDataAxis); }
  int replicas() const { return mesh.size(kDataAxis); }
  // That of a rank of the group.
  int replica_of(int rank) const { return mesh.place(kDataAxis, rank); }
  // This rank's positions among the ranks that hold the same blocks of a replica.
  std::vector<mesh::Place> places() const;
  // Of these ranks, one saves what all of them hold. That of the last stage reports the loss.
  bool is_first_holder() const { return mesh::Layout().is_first_holder(places()); }
  bool has_loss() const {
    return is_first_holder() && (pipeline == nullptr || pipeline->has_last_stage());
  }
  // Uses these ranks from now on. `numbers`: by rank, the worker numbers of an elastic job.
  void regroup(const comm::Group& ranks, std::vector<int> numbers = {});
  // Assigns micro-batches to replicas from the next step on; the loader keeps its position.
  // `weights` are the relative sizes of the micro-batches; empty: all have the same size.
  void assign(std::vector<int> owners, std::vector<std::int64_t> weights = {});
  // The next steps use the learning rate factor and the loss scale of this progress.
  void follow(const Progress& progress) const;
  // Whether step `now` is a multiple of `every`; 0 stands for the steps of an epoch.
  bool is_due(std::int64_t every, std::int64_t now) const {
    return now % (every > 0 ? every : steps_an_epoch) == 0;
  }
  // By micro-batch: its owner, if the replicas share them evenly.
  std::vector<int> fair_owners() const;
  // Micro-batches must not be split, because the gradients of the parts would not add up to the
  // same result: they are rounded differently, or a pass computes statistics of its samples.
  bool has_fixed_micro_batches() const;
};

struct JobOptions {
  // The ranks of an elastic job change. open_job() then runs no collectives, and the gradient
  // synchronization is an ElasticSync.
  bool is_elastic = false;
  bool is_spread = false;  // over several hosts
  int local_rank = 0;      // on this host, which selects a GPU
  // The preprocessing in the checkpoint that is resumed; null: a new job.
  const data::Preprocessing* known = nullptr;
  Faults* faults = nullptr;
};

// The model alone, with initial weights that are a function of train.seed. This suffices to
// evaluate or generate. The weights that model.load names are not read.
std::shared_ptr<model::Model> make_model(const config::Config& config, const Kinds& kinds,
                                         const data::Form& form);

Job open_job(const config::Config& config, const Kinds& kinds,
             const comm::Group& group = comm::Group::solo(), const JobOptions& options = {});

}  // namespace trireme::train
