// The mesh of a job, and the model of a job whose replicas consist of several ranks: this rank
// builds and holds its own stages and shards only.
//
// Errors:        InvalidInput for axes that do not fit the number of ranks; Unsupported, with the
//                setting, for what cannot be combined with parallel.tensor or parallel.pipe yet.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "trireme/base/config/config.h"
#include "trireme/mesh/mesh.h"
#include "trireme/parallel/pipeline/pipeline.h"
#include "trireme/parallel/tensor/tensor_parallel.h"
#include "trireme/train/recipe/recipe.h"

namespace trireme::train {

// The axes for this number of ranks: data, and pipe before it and tensor after it if they have
// several ranks. Ranks that communicate most are neighbours, so that they share a host where
// possible: those of the tensor axis most, those of the pipe axis least.
std::vector<mesh::Axis> axes_of(const config::Config& config, int ranks);

// What tensor and pipeline parallelism do not support, among the settings of models and optimizers.
void check_sharded_settings(const config::Config& config);

struct ShardedModel {
  std::shared_ptr<model::Model> model;
  parallel::tensor::Layouts layouts;
  std::optional<parallel::tensor::VocabularyShard> logits;
  std::shared_ptr<parallel::pipeline::Pipeline> pipeline;  // null: one stage
  parallel::CommitFlags flags{};                           // by default those of one stage
  double flops_a_sample = 0;                               // of the whole model
  std::int64_t parameter_count = 0;                        // likewise
};

// With initial weights that are those of the whole model.
ShardedModel make_sharded_model(const config::Config& config, const Kinds& kinds,
                                const data::Form& form, const mesh::Mesh& mesh);

}  // namespace trireme::train
