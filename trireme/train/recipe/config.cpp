#include "trireme/train/recipe/config.h"

#include "trireme/train/evaluate/scores.h"

namespace trireme::train {
namespace {

constexpr const char* kMetrics[] = {
    "loss", "accuracy", "perplexity",        "f1",  "balanced_accuracy",
    "top5", "roc_auc",  "calibration_error", "mae", "r2"};

std::string mistake_in_metric(const std::string& name) {
  if (top_of(name)) return {};
  std::string all;
  for (const char* metric : kMetrics) {
    if (name == metric) return {};
    all += std::string(all.empty() ? "" : ", ") + metric;
  }
  return "is not a metric; the metrics are " + all + "; instead of top5 also top2 to top10";
}

std::string mistake_in_precisions(const std::vector<std::string>& all) {
  for (const std::string& text : all) {
    const std::size_t equals = text.rfind('=');
    const std::string type = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (equals == 0 || (type != "fp32" && type != "bf16")) {
      return "'" + text + "' is not \"pattern=fp32\" or \"pattern=bf16\"";
    }
  }
  return {};
}

}  // namespace

void TrainConfig::describe(config::Fields<TrainConfig>& f) {
  using T = TrainConfig;
  f.add("global_batch_size", &T::batch)
      .synonyms({"batch_size", "batch", "train_batch_size", "per_device_train_batch_size"})
      .at_least(1)
      .unit("samples")
      .help("samples per step, over all ranks");
  f.add("epochs", &T::epochs)
      .synonyms({"max_epochs", "num_epochs", "num_train_epochs"})
      .at_least(0)
      .help("passes over the data, if steps is not set");
  f.add("steps", &T::steps)
      .synonyms({"max_steps", "num_steps", "total_steps"})
      .at_least(0)
      .help("number of steps of the job, instead of epochs");
  f.add("seed", &T::seed).help("for initial weights, order of samples, augmentation and dropout");
  f.add("logical_ranks", &T::logical_ranks)
      .synonyms({"virtual_ranks"})
      .range(0, 4096)
      .help(
          "number of micro-batches per step, independent of the number of ranks, for bitwise "
          "reproducible results; 0: accumulate per rank");
  f.add("grad_accum_steps", &T::accumulate)
      .synonyms(
          {"grad_accum", "accumulate", "gradient_accumulation_steps", "accumulate_grad_batches"})
      .range(1, 4096)
      .help("micro-batches per rank and step (gradient accumulation), if logical_ranks is 0");
  f.add("num_threads", &T::threads)
      .synonyms({"threads"})
      .range(0, 1024)
      .help("compute threads per rank; 0: its share of the cores, or 1 with logical_ranks");
  f.add("device", &T::device)
      .synonyms({"accelerator", "use_cpu", "no_cuda", "devices"})
      .help(
          "\"auto\": the GPU of the rank if there is one, otherwise the CPU; \"cpu\"; \"cuda\"; "
          "\"cuda:N\"");
  f.add("precision", &T::precision)
      .synonyms({"bf16", "fp16", "amp", "dtype", "mixed_precision"})
      .names({{"fp32", Precision::Float32},
              {"bf16", Precision::BFloat16},
              {"fp16", Precision::Float16}})
      .help("precision of forward and backward; parameters and updates stay float32");
  f.add("module_precision", &T::module_precision)
      .check(mistake_in_precisions)
      .help(
          "\"pattern=fp32\" or \"pattern=bf16\": precision of blocks by the names of their "
          "parameters; the last matching pattern counts");
  f.add("fp32_steps", &T::fp32_steps)
      .at_least(0)
      .unit("steps")
      .help("in float32 at the beginning of the job, before precision is used");
  f.add("fallback_steps", &T::fallback_steps)
      .at_least(0)
      .unit("steps")
      .help("in float32 after a step in 16 bits whose loss is not finite or jumps; 0: none");
  f.add("fallback_jump", &T::fallback_jump)
      .at_least(0)
      .help("standard deviations above its running mean from which a loss is a jump; 0: never");
  f.require([](const T& c) {
    const bool is_lost =
        c.precision == Precision::Float32 && (c.fp32_steps > 0 || c.fallback_steps > 0);
    return is_lost ? std::string("fp32_steps and fallback_steps require a precision of 16 bits")
                   : std::string();
  });
  f.add("non_finite", &T::non_finite)
      .names(
          {{"stop", NonFinite::Stop}, {"skip", NonFinite::Skip}, {"rollback", NonFinite::Rollback}})
      .help("what to do if the loss or a gradient is not finite");
  f.add("non_finite_max", &T::non_finite_max)
      .at_least(1)
      .help("consecutive steps that may be skipped or rolled back before the job stops");
  f.add("log_every", &T::log_every)
      .synonyms({"log_interval", "logging_steps", "log_every_n_steps", "log_freq"})
      .at_least(0)
      .unit("steps")
      .help(
          "between lines of progress and between points in metrics.jsonl; 0: by time, one line "
          "every five seconds and two points per second");
}

void EvalConfig::describe(config::Fields<EvalConfig>& f) {
  using T = EvalConfig;
  f.add("every", &T::every)
      .synonyms({"eval_steps", "eval_interval", "val_check_interval"})
      .at_least(0)
      .unit("steps")
      .help("between evaluations; 0: once per epoch");
  f.add("batch_size", &T::batch).at_least(1).unit("samples").help("batch size of an evaluation");
  f.add("metric", &T::metric)
      .check(mistake_in_metric)
      .help(
          "decides on the best checkpoint: loss, accuracy, perplexity, f1, balanced_accuracy, top5 "
          "(2 to 10), roc_auc, calibration_error; for numbers mae or r2");
  f.add("patience", &T::patience)
      .at_least(0)
      .help("consecutive evaluations without a better one after which the job stops; 0: never");
}

void CheckpointConfig::describe(config::Fields<CheckpointConfig>& f) {
  using T = CheckpointConfig;
  f.add("every", &T::every)
      .synonyms({"save_steps", "save_every", "save_interval"})
      .at_least(0)
      .unit("steps")
      .help(
          "between checkpoints; 0: once per epoch, and after 1000 steps without one; always at the "
          "end of the job, and after a best evaluation if keep_best is true");
  f.add("keep", &T::keep)
      .synonyms({"save_total_limit"})
      .at_least(1)
      .help("number of latest checkpoints that are kept");
  f.add("keep_best", &T::is_best_kept).help("also keep the best checkpoint by eval.metric");
  f.add("compress", &T::compress)
      .names({{"none", Compression::None}, {"zstd", Compression::Zstd}})
      .help("compression on disk; other programs cannot read compressed checkpoints");
  f.add("compress_level", &T::compress_level)
      .range(1, 19)
      .help("level of zstd; files of higher levels are smaller and take longer");
  f.add("key_file", &T::key_file)
      .help(
          "a file of 64 hexadecimal digits, mode 0600: encrypts checkpoints with AES-256-GCM, "
          "signs their manifests, and refuses to read others, also by model.load");
  f.add("allow_unauthenticated", &T::is_unauthenticated_allowed)
      .help(
          "with key_file: also read checkpoints that are not signed with the key, such as those "
          "written before it was set; counts only on the command line");
}

checkpoint::format::Sealing sealing_of(const config::Config& config) {
  const auto& wanted = config.get<CheckpointConfig>("checkpoint");
  const bool is_allowed = wanted.is_unauthenticated_allowed &&
                          config.setting("checkpoint.allow_unauthenticated")->is_override;
  checkpoint::format::Sealing sealing{.is_compressed = wanted.compress == Compression::Zstd,
                                      .level = wanted.compress_level,
                                      .is_unauthenticated_allowed = is_allowed};
  if (!wanted.key_file.empty()) sealing.key = net::Secret::from_file(wanted.key_file);
  sealing.expect_possible();
  return sealing;
}

bool is_larger_better(const std::string& metric) {
  if (top_of(metric)) return true;
  for (const char* larger : {"accuracy", "f1", "balanced_accuracy", "roc_auc", "r2"}) {
    if (metric == larger) return true;
  }
  return false;
}

}  // namespace trireme::train
