#include "trireme/train/sharded_model.h"

#include "trireme/base/error.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/model/model_config.h"
#include "trireme/model/without_memory.h"
#include "trireme/optim/kinds.h"
#include "trireme/parallel/parallel_config.h"
#include "trireme/train/job.h"
#include "trireme/train/transfer.h"

namespace trireme::train {
namespace {

using parallel::ParallelConfig;
using parallel::tensor::kTensorAxis;

}  // namespace

void check_sharded_settings(const config::Config& config) {
  const auto refuse = [](const std::string& setting) {
    throw Error(ErrorCode::Unsupported,
                setting +
                    " is not supported with parallel.tensor; remove it, or set "
                    "parallel.tensor=1");
  };
  if (!config.get<model::ModelConfig>(model::kModelSection).load.empty()) refuse("model.load");
  const auto& transfer = config.get<model::TransferConfig>(model::kModelSection);
  if (transfer.lora_rank > 0) refuse("model.lora_rank");
  if (!transfer.freeze.empty()) refuse("model.freeze");
  if (optim::make_optimizer(config)->grain() == optim::Grain::WholeTensor) {
    refuse("an optimizer that needs whole weights (lamb, lars, muon, adafactor)");
  }
}

std::vector<mesh::Axis> axes_of(const config::Config& config, int ranks) {
  const auto& wanted = config.get<ParallelConfig>(parallel::kParallelSection);
  const int replicas = wanted.data > 0 ? wanted.data : ranks / wanted.tensor;
  if (replicas * wanted.tensor != ranks) {
    const std::string data =
        wanted.data > 0 ? "parallel.data = " + std::to_string(wanted.data) + " times " : "";
    throw Error(ErrorCode::InvalidInput,
                data + "parallel.tensor = " + std::to_string(wanted.tensor) +
                    " does not fit the number of ranks, " + std::to_string(ranks) +
                    "; start the job with another -n, or change [parallel]");
  }
  std::vector<mesh::Axis> axes{{.name = kDataAxis, .size = replicas}};
  if (wanted.tensor > 1) axes.push_back({.name = kTensorAxis, .size = wanted.tensor});
  return axes;
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
  const parallel::tensor::TensorParallel cut(*made.model, mesh, made.model->split_rules());
  cut.initialize(seed);
  prepare_transfer(*made.model, config.get<model::TransferConfig>(model::kModelSection), seed);
  made.model->train();
  made.layouts = cut.layouts();
  made.logits = cut.logits();
  return made;
}

}  // namespace trireme::train
