#include "trireme/train/job.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

#include "trireme/base/error.h"
#include "trireme/checkpoint/published.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/data/data_config.h"
#include "trireme/data/order/sampling.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/model/layer/lora.h"
#include "trireme/model/model_config.h"
#include "trireme/model/start.h"
#include "trireme/optim/kinds.h"
#include "trireme/optim/rule/gradual.h"
#include "trireme/optim/schedule/schedule_config.h"
#include "trireme/parallel/kinds.h"
#include "trireme/train/balance/micro_batches.h"
#include "trireme/train/evaluate/ranking.h"
#include "trireme/train/evaluate/scores.h"
#include "trireme/train/evaluate/tally.h"
#include "trireme/train/job_settings.h"
#include "trireme/train/module_precision.h"
#include "trireme/train/recipe/pretrained_tokens.h"
#include "trireme/train/sharded_model.h"
#include "trireme/train/transfer.h"

namespace trireme::train {
namespace {

// With train.logical_ranks results are bitwise reproducible only with a fixed number of threads.
void set_threads(const TrainConfig& config) {
  const int threads = config.threads > 0 ? config.threads : config.logical_ranks > 0 ? 1 : 0;
  if (threads > 0) at::set_num_threads(threads);
}

std::int64_t steps_of(const TrainConfig& config, std::int64_t steps_an_epoch) {
  if (config.steps) return *config.steps;
  return static_cast<std::int64_t>(std::ceil(config.epochs * static_cast<double>(steps_an_epoch)));
}

// A metric that the data do not have would always be 0, and the first evaluation would silently
// count as the best.
void check_metric(const std::string& metric, const data::Form& form) {
  const bool is_of_numbers = metric == "mae" || metric == "r2";
  const bool is_of_classes = metric != "loss" && !is_of_numbers;
  if (!form.tasks.empty() && metric != "loss") {
    throw Error(ErrorCode::InvalidInput, "eval.metric = \"" + metric +
                                             "\" is not supported with several tasks; use "
                                             "eval.metric = \"loss\"");
  }
  if (is_of_classes && form.classes == 0) {
    throw Error(ErrorCode::InvalidInput, "eval.metric = \"" + metric +
                                             "\" requires targets that are classes, but these are "
                                             "numbers; use eval.metric = \"loss\"");
  }
  if (is_of_numbers && form.classes > 0) {
    throw Error(ErrorCode::InvalidInput, "eval.metric = \"" + metric +
                                             "\" requires targets that are numbers, but these are "
                                             "classes; use accuracy or loss");
  }
  if (const auto k = top_of(metric); k && form.classes <= *k) {
    throw Error(ErrorCode::InvalidInput, "eval.metric = \"" + metric + "\" is always 1 with " +
                                             std::to_string(form.classes) +
                                             " classes; use accuracy or loss");
  }
  const bool is_plain = metric == "accuracy" || metric == "perplexity";
  if (is_of_classes && !is_plain && form.classes > Scores::kMatrixClassesMax) {
    throw Error(ErrorCode::InvalidInput,
                "eval.metric = \"" + metric + "\" supports at most " +
                    std::to_string(Scores::kMatrixClassesMax) + " classes, but the data have " +
                    std::to_string(form.classes) + "; use accuracy or loss");
  }
}

void check_ranking(const std::string& metric, const data::Sets& sets) {
  if (metric != "roc_auc" || !sets.test || can_rank(*sets.test)) return;
  throw Error(ErrorCode::InvalidInput,
              "eval.metric = \"roc_auc\" requires one class per sample, and a product of samples "
              "and classes of at most " +
                  std::to_string(Ranking::kCellsMax) + "; use accuracy or loss");
}

void check_plateau(const config::Config& config, const data::Sets& sets) {
  if (sets.test || config.find<optim::PlateauScheduleConfig>(optim::kScheduleSection) == nullptr) {
    return;
  }
  throw Error(ErrorCode::InvalidInput,
              "schedule.kind = \"reduce_on_plateau\" requires evaluations, but there are no test "
              "data; set data.test, or use another schedule");
}

// The settings of the optimizer for a parameter, by its name and depth.
parallel::Treat treatment_of(const config::Config& config, const model::Model& model) {
  const auto& rule = config.get<optim::OptimConfig>(optim::kOptimSection);
  if (const auto second = optim::second_rule_of(config)) {
    expect_fits(model, second->names, "optim.second.names");
  }
  std::optional<Levels> levels;
  if (rule.layer_decay < 1) levels.emplace(model, "optim.layer_decay");
  if (rule.unfreeze_every > 0) levels.emplace(model, "optim.unfreeze_every");
  return [treat = parallel::treatment_of(config), levels, rule](const std::string& name,
                                                                const at::Tensor& tensor) {
    parallel::Treatment treatment = treat(name, tensor);
    const int below = levels ? levels->count() - 1 - levels->of(name) : 0;
    treatment.lr_factor *= std::pow(rule.layer_decay, below);
    treatment.first_update = 1 + below * rule.unfreeze_every;
    return treatment;
  };
}

std::shared_ptr<const optim::Optimizer> optimizer_of(const config::Config& config) {
  auto rule = optim::make_optimizer(config);
  if (config.get<optim::OptimConfig>(optim::kOptimSection).unfreeze_every == 0) return rule;
  return std::make_shared<optim::Gradual>(std::move(rule));
}

void load_first_weights(const config::Config& config, model::Model& model, bool is_first_rank) {
  const auto& wanted = config.get<model::ModelConfig>(model::kModelSection);
  if (wanted.load.empty()) return;
  if (const auto complaint = checkpoint::complaint_of_renames(wanted.load_renames);
      !complaint.empty()) {
    throw Error(ErrorCode::InvalidInput, "model.load_renames: " + complaint);
  }
  checkpoint::LoadReport report;
  try {
    const auto& fresh = config.get<model::TransferConfig>(model::kModelSection).load_fresh;
    report = checkpoint::load_published(
        model, wanted.load,
        {.is_strict = wanted.is_load_strict,
         .renames = wanted.load_renames,
         .is_fresh = [&](const std::string& name) { return fits_any(fresh, name); },
         .is_optional = model::is_lora,
         .reading = sealing_of(config).reading(),
         .on_note =
             [is_first_rank](const std::string& note) {
               if (is_first_rank) std::fprintf(stderr, "trireme: model.load: %s\n", note.c_str());
             }});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::NotFound) {
      throw Error(ErrorCode::NotFound,
                  "model.load: " + error.message() +
                      ". Correct the path. A job that is resumed has its weights in its "
                      "checkpoint: model.load= (empty) omits them");
    }
    if (error.code() != ErrorCode::Mismatch) throw;
    throw Error(ErrorCode::InvalidInput,
                "model.load: " + error.message() +
                    "Set model.load_renames to map names, or model.load_strict=false to load only "
                    "the tensors that match");
  }
  if (!report.is_complete() && is_first_rank) {
    std::fprintf(
        stderr, "trireme: %s does not match the whole model; the other weights are initialized\n%s",
        wanted.load.c_str(), report.text().c_str());
  }
}

// The ranks of an elastic job change, and each is a replica.
mesh::Mesh mesh_of(const Job& job) {
  return {job.group, job.is_elastic
                         ? std::vector<mesh::Axis>{{.name = kDataAxis, .size = job.group.size()}}
                         : axes_of(job.config, job.group.size())};
}

void open_data(Job& job, const Kinds& kinds, const JobOptions& options) {
  job.sets = kinds.data.open(job.config, options.known);
  job.data = DataDigest::of(job.sets);
  expect_same_data(job.group, job.data);
  const data::Form& form = job.sets.train->form();
  check_metric(job.eval().metric, form);
  check_ranking(job.eval().metric, job.sets);
  check_plateau(job.config, job.sets);
  if (options.known == nullptr) expect_pretrained_tokens(job.config, form);
}

// The model with its first weights, and the loss.
TorchDevice device_of(const Job& job, const JobOptions& options) {
  const Device device = choose_device(job.train().device, options.local_rank);
  if (!device.is_cpu() && (job.group.size() > 1 || job.is_elastic)) {
    throw Error(ErrorCode::Unsupported,
                "train.device = \"" + job.train().device +
                    "\" supports jobs of one rank that are not elastic; start it with -n 1, or set "
                    "train.device=cpu");
  }
  return TorchDevice(device);
}

// Whole, or this rank's shards of it. Returns what this rank computes of the logits, if that is a
// part.
std::optional<parallel::tensor::VocabularyShard> make_own_model(Job& job, const Kinds& kinds) {
  const data::Form& form = job.sets.train->form();
  if (job.replicas() < job.group.size()) {
    ShardedModel made = make_sharded_model(job.config, kinds, form, job.mesh);
    job.model = made.model;
    job.layouts = std::move(made.layouts);
    job.pipeline = std::move(made.pipeline);
    job.flags = made.flags;
    job.flops_a_sample = made.flops_a_sample;
    job.parameter_count = made.parameter_count;
    return made.logits;
  }
  job.model = make_model(job.config, kinds, form);
  load_first_weights(job.config, *job.model, job.group.rank() == 0);
  job.flops_a_sample = job.model->flops_a_sample(form);
  job.parameter_count = model::parameter_count(*job.model);
  return std::nullopt;
}

void build_model(Job& job, const Kinds& kinds, const JobOptions& options) {
  const data::Form& form = job.sets.train->form();
  const auto logits = make_own_model(job, kinds);
  set_module_precisions(*job.model, job.train());
  job.device = device_of(job, options);
  job.model->to(job.device.torch());
  job.loss = loss_of(job.config, kinds, *job.model, form, [&] {
    const bool is_known = options.known != nullptr && !options.known->class_counts.empty();
    return job.sets.preprocessing.class_counts =
               is_known ? options.known->class_counts : class_counts_of(*job.sets.train);
  });
  if (logits) {
    job.loss = sharded(*job.loss, job.mesh.group(parallel::tensor::kTensorAxis), *logits);
  }
  // Frozen parameters must be equal on all replicas, too. In an elastic job, whose workers may join
  // later, they follow from the recipe instead.
  for (const at::Tensor& parameter : job.model->parameters()) {
    if (parameter.requires_grad() || job.is_elastic) continue;
    comm::broadcast(job.mesh.group(kDataAxis), parameter.detach(), 0, {.label = "frozen weights"})
        .wait();
  }
}

std::shared_ptr<data::Loader> make_loader(const Job& job) {
  const auto& reading = job.config.get<data::DataConfig>("data");
  const auto& sampling = job.config.get<data::SamplingConfig>("data");
  const auto& sync = job.config.get<parallel::SyncConfig>(parallel::kSyncSection);
  const std::vector<int> owners = job.fair_owners();
  return std::make_shared<data::Loader>(
      data::Loader::Options{.source = job.sets.train,
                            .seed = job.train().seed,
                            .batch = job.train().batch,
                            .micro_batches = static_cast<int>(owners.size()),
                            .mine = micro_batches_of(job.replica(), owners),
                            .is_shuffled = reading.is_shuffled && !sampling.is_stratified,
                            .is_last_dropped = reading.is_last_dropped,
                            .threads = reading.threads,
                            .ahead = reading.ahead,
                            .is_pinned = !job.device.device().is_cpu(),
                            .timeout = comm::Timeouts{sync.timeout}.loader()});
}

// The ranks of this rank's replica.
comm::Group replica_group(const Job& job) {
  if (job.replicas() == job.group.size()) return comm::Group::solo();
  std::vector<int> ranks;
  for (int rank = 0; rank < job.group.size(); ++rank) {
    if (job.replica_of(rank) == job.replica()) ranks.push_back(rank);
  }
  return job.group.subgroup(ranks);
}

parallel::SyncOptions sync_options(const Job& job, const JobOptions& options) {
  const TrainConfig& train = job.train();
  parallel::SyncOptions all = sync_settings(job, options);
  all.parameters = parallel::parameters_of(*job.model, treatment_of(job.config, *job.model),
                                           job.places(), job.layouts);
  all.buffers = job.model->buffers();
  all.optimizer = optimizer_of(job.config);
  all.replica_group = replica_group(job);
  all.flags = job.flags;
  all.model = job.model;
  all.can_drop = train.non_finite != NonFinite::Stop || train.fallback_steps > 0 ||
                 job.sets.train->form().are_bad_samples_skipped;
  return all;
}

std::unique_ptr<Step> make_step(const Job& job, std::shared_ptr<data::Loader> loader,
                                const JobOptions& options) {
  const auto& rule = job.config.get<optim::OptimConfig>(optim::kOptimSection);
  return std::make_unique<Step>(Step::Parts{
      .model = job.model,
      .loss = job.loss,
      .loader = std::move(loader),
      .gradient_sync = parallel::make_gradient_sync(sync_options(job, options), job.strategies),
      .device = job.device,
      .pipeline = job.pipeline,
      .schedule = optim::make_schedule(job.config, job.steps),
      .max_grad_norm = rule.max_grad_norm,
      .max_grad_value = rule.max_grad_value,
      .config = job.train(),
      .micro_batch_owners = job.fair_owners(),
      .left_out_max = left_out_max(job),
      .has_loss = job.has_loss(),
      .faults = options.faults});
}

}  // namespace

std::shared_ptr<model::Model> make_model(const config::Config& config, const Kinds& kinds,
                                         const data::Form& form) {
  const std::uint64_t seed = config.get<TrainConfig>("train").seed;
  // A wrapped module's constructor draws from torch's generator.
  TorchDevice().seed(seed);
  auto model = kinds.models.make(config, {.form = form});
  model::initialize(*model, seed);
  prepare_transfer(*model, config.get<model::TransferConfig>(model::kModelSection), seed);
  model->train();
  return model;
}

std::vector<mesh::Place> Job::places() const {
  std::vector<mesh::Place> all = mesh.places(kDataAxis);
  std::erase_if(all, [](const auto& place) { return place.axis == parallel::pipeline::kPipeAxis; });
  return all;
}

void Job::assign(std::vector<int> owners, std::vector<std::int64_t> weights) {
  loader().assign(static_cast<int>(owners.size()), micro_batches_of(replica(), owners),
                  std::move(weights));
  step->parts().micro_batch_owners = std::move(owners);
}

void Job::regroup(const comm::Group& ranks, std::vector<int> numbers) {
  group = ranks;
  workers = std::move(numbers);
  mesh = mesh::Mesh(ranks, {{.name = kDataAxis, .size = ranks.size()}});
}

void Job::follow(const Progress& progress) const {
  step->parts().lr_factor = progress.plateau.factor;
  if (progress.loss_scale <= 0) return;
  step->loss_scale().restore(
      {.scale = progress.loss_scale, .good_steps = progress.loss_scale_good_steps});
}

std::vector<int> Job::fair_owners() const {
  return assign_micro_batches(micro_batch_count(train(), replicas()), replicas());
}

bool Job::has_fixed_micro_batches() const {
  return train().logical_ranks > 0 || !model->buffers().empty();
}

Job open_job(const config::Config& config, const Kinds& kinds, const comm::Group& group,
             const JobOptions& options) {
  Job job{.config = config,
          .group = group,
          .strategies = kinds.strategies,
          .stretches = parallel::stretches_of(config, kinds.strategies),
          .hash = job_hash(config),
          .is_elastic = options.is_elastic,
          .is_spread = options.is_spread};
  job.mesh = mesh_of(job);
  check_settings(job, options);
  set_threads(job.train());
  open_data(job, kinds, options);
  build_model(job, kinds, options);
  auto loader = make_loader(job);
  job.steps_an_epoch = loader->steps_an_epoch();
  job.steps = steps_of(job.train(), job.steps_an_epoch);
  job.step = make_step(job, std::move(loader), options);
  return job;
}

}  // namespace trireme::train
