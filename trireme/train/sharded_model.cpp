#include "trireme/train/sharded_model.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/model/model_config.h"
#include "trireme/model/without_memory.h"
#include "trireme/optim/groups.h"
#include "trireme/optim/kinds.h"
#include "trireme/optim/optim_config.h"
#include "trireme/parallel/parallel_config.h"
#include "trireme/train/job.h"
#include "trireme/train/transfer.h"

namespace trireme::train {
namespace {

namespace pipeline = parallel::pipeline;
using parallel::ParallelConfig;
using parallel::tensor::kTensorAxis;

const ParallelConfig& parallel_of(const config::Config& config) {
  return config.get<ParallelConfig>(parallel::kParallelSection);
}

[[noreturn]] void refuse_setting(const std::string& setting, const std::string& with) {
  throw Error(ErrorCode::Unsupported,
              setting + " is not supported with " + with + "; remove it, or set " + with + "=1");
}

// Settings that name weights, or count layers, of the whole model.
void check_settings_of_stages(const config::Config& config) {
  const char* const pipe = "parallel.pipe";
  const auto& rule = config.get<optim::OptimConfig>(optim::kOptimSection);
  if (rule.layer_decay < 1) refuse_setting("optim.layer_decay", pipe);
  if (rule.unfreeze_every > 0) refuse_setting("optim.unfreeze_every", pipe);
  if (optim::second_rule_of(config)) refuse_setting("optim.second", pipe);
  const auto& train = config.get<TrainConfig>("train");
  if (!train.module_precision.empty()) refuse_setting("train.module_precision", pipe);
}

std::vector<pipeline::BlockSize> sizes_of(const model::BlockModel& model) {
  std::vector<pipeline::BlockSize> sizes;
  const auto blocks = model.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    sizes.push_back({model.paths()[i], model::parameter_count(*blocks[i])});
  }
  return sizes;
}

// Which blocks are on which stage, and on which rank of the pipe axis.
struct StagePlan {
  std::shared_ptr<const model::BlockModel> model;
  pipeline::StagePlacement placement;
  std::vector<model::BlockRange> split;  // by stage
};

// The stages of this rank, and what they need of others.
struct Stages {
  std::shared_ptr<model::StageModel> model;
  pipeline::Pipeline::Parts parts;
};

StagePlan plan_of(const config::Config& config, const std::shared_ptr<model::Model>& whole) {
  const ParallelConfig& wanted = parallel_of(config);
  const auto blocks = std::dynamic_pointer_cast<const model::BlockModel>(whole);
  if (!blocks) {
    throw Error(
        ErrorCode::InvalidInput,
        "parallel.pipe requires a model made of blocks (docs/models.md); use another model, "
        "or parallel.pipe=1");
  }
  const pipeline::PipelineShape shape{.ranks = wanted.pipe, .stages_per_rank = wanted.stages()};
  const auto placement = pipeline::schedule_named(wanted.schedule).placement(shape);
  return {blocks, placement,
          pipeline::split_into_stages(sizes_of(*blocks), placement.stages(),
                                      {.by = wanted.split, .points = wanted.split_points})};
}

Stages stages_of(const config::Config& config, const std::shared_ptr<model::Model>& whole,
                 const mesh::Mesh& mesh) {
  const ParallelConfig& wanted = parallel_of(config);
  const auto [blocks, placement, split] = plan_of(config, whole);
  const comm::Group& group = mesh.group(pipeline::kPipeAxis);
  std::vector<pipeline::TiedWeight> tied = pipeline::tied_weights(*blocks, split, placement);
  std::vector<at::Tensor> elsewhere;
  for (const pipeline::TiedWeight& one : tied) {
    if (one.owner != group.rank()) elsewhere.push_back(one.tensor);
  }
  std::vector<model::BlockRange> own;
  for (const int stage : placement.stages_of(group.rank())) {
    own.push_back(split[static_cast<std::size_t>(stage)]);
  }
  const auto model = std::make_shared<model::StageModel>(blocks, own, elsewhere);
  if (model->parameters().empty()) {
    throw Error(ErrorCode::InvalidInput,
                "rank " + std::to_string(group.rank()) +
                    " of the pipe axis would have no weights; use a smaller parallel.pipe, or set "
                    "parallel.split_points");
  }
  const bool is_ordered = config.get<TrainConfig>("train").logical_ranks > 0;
  return {model,
          {.model = model,
           .schedule = &pipeline::schedule_named(wanted.schedule),
           .stages_per_rank = wanted.stages(),
           .group = group,
           .tied = std::move(tied),
           .is_ordered = is_ordered}};
}

// Each rank of the pipe axis has a range of its own.
parallel::CommitFlags flags_of(const model::Model& model, const comm::Group& group) {
  const std::int64_t mine = std::ssize(parallel::parameters_of(model));
  std::vector<std::int64_t> counts(static_cast<std::size_t>(group.size()));
  group
      .all_gather({counts.data(), counts.size(), comm::DType::Int64},
                  {&mine, 1, comm::DType::Int64}, {.label = "parameters of stages"})
      .wait();
  parallel::CommitFlags flags;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (static_cast<int>(rank) == group.rank()) flags.begin = flags.count;
    flags.count += static_cast<std::size_t>(counts[rank]);
  }
  return flags;
}

}  // namespace

void check_sharded_settings(const config::Config& config) {
  const ParallelConfig& wanted = parallel_of(config);
  const char* const with = wanted.is_pipelined() ? "parallel.pipe" : "parallel.tensor";
  if (!config.get<model::ModelConfig>(model::kModelSection).load.empty()) {
    refuse_setting("model.load", with);
  }
  const auto& transfer = config.get<model::TransferConfig>(model::kModelSection);
  if (transfer.lora_rank > 0) refuse_setting("model.lora_rank", with);
  if (!transfer.freeze.empty()) refuse_setting("model.freeze", with);
  if (wanted.is_pipelined()) check_settings_of_stages(config);
  if (wanted.tensor > 1 && optim::make_optimizer(config)->grain() == optim::Grain::WholeTensor) {
    refuse_setting("an optimizer that needs whole weights (lamb, lars, muon, adafactor)",
                   "parallel.tensor");
  }
}

std::vector<mesh::Axis> axes_of(const config::Config& config, int ranks) {
  const ParallelConfig& wanted = parallel_of(config);
  const int in_replica = wanted.pipe * wanted.tensor;
  const int replicas = wanted.data > 0 ? wanted.data : ranks / in_replica;
  if (replicas * in_replica != ranks) {
    const auto factor = [](const char* axis, int size) {
      return "parallel." + std::string(axis) + " = " + std::to_string(size);
    };
    std::string product = wanted.pipe > 1 ? factor("pipe", wanted.pipe) + " times " : "";
    if (wanted.data > 0) product += factor("data", wanted.data) + " times ";
    throw Error(ErrorCode::InvalidInput,
                product + factor("tensor", wanted.tensor) + " does not fit the number of ranks, " +
                    std::to_string(ranks) +
                    "; start the job with another -n, or change [parallel]");
  }
  std::vector<mesh::Axis> axes{{.name = kDataAxis, .size = replicas}};
  if (wanted.pipe > 1) {
    axes.insert(axes.begin(), {.name = pipeline::kPipeAxis, .size = wanted.pipe});
  }
  if (wanted.tensor > 1) axes.push_back({.name = kTensorAxis, .size = wanted.tensor});
  return axes;
}

std::map<std::string, std::set<int>> pipe_places(const config::Config& config,
                                                 const std::shared_ptr<model::Model>& whole) {
  const StagePlan plan = plan_of(config, whole);
  std::map<const void*, std::set<int>> by_tensor;
  for (std::size_t stage = 0; stage < plan.split.size(); ++stage) {
    const int place = plan.placement.rank_of(static_cast<int>(stage));
    for (std::size_t i = plan.split[stage].begin; i < plan.split[stage].end; ++i) {
      for (const at::Tensor& tensor : plan.model->blocks()[i]->parameters()) {
        by_tensor[tensor.unsafeGetTensorImpl()].insert(place);
      }
    }
  }
  std::map<std::string, std::set<int>> places;
  for (const auto& item : whole->named_parameters()) {
    places[item.key()] = by_tensor.at(item.value().unsafeGetTensorImpl());
  }
  return places;
}

ShardedModel make_sharded_model(const config::Config& config, const Kinds& kinds,
                                const data::Form& form, const mesh::Mesh& mesh) {
  const std::uint64_t seed = config.get<TrainConfig>("train").seed;
  // A wrapped module's constructor draws from torch's generator.
  TorchDevice().seed(seed);
  ShardedModel made;
  {
    const model::WithoutMemory none;
    made.model = kinds.models.make(config, {.form = form});
  }
  made.flops_a_sample = made.model->flops_a_sample(form);
  made.parameter_count = model::parameter_count(*made.model);
  std::vector<model::SplitRule> rules = made.model->split_rules();
  std::optional<Stages> stages;
  if (mesh.has(pipeline::kPipeAxis)) {
    if (mesh.has(kTensorAxis))
      parallel::tensor::layouts_of(*made.model, rules, mesh.size(kTensorAxis));
    stages = stages_of(config, made.model, mesh);
    made.model = stages->model;
    rules = parallel::tensor::rules_for(*made.model, rules);
  }
  if (mesh.has(kTensorAxis) && !(stages && rules.empty())) {
    const parallel::tensor::TensorParallel cut(*made.model, mesh, rules);
    cut.initialize(seed);
    made.layouts = cut.layouts();
    made.logits = cut.logits();
  } else {
    stages->model->initialize(seed);
  }
  prepare_transfer(*made.model, config.get<model::TransferConfig>(model::kModelSection), seed);
  made.model->train();
  if (stages) {
    made.pipeline = std::make_shared<pipeline::Pipeline>(std::move(stages->parts));
    made.flags = flags_of(*made.model, mesh.group(pipeline::kPipeAxis));
  }
  return made;
}

}  // namespace trireme::train
