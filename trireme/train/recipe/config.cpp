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
  return "is no metric; there are " + all + "; beside top5, top2 to top10";
}

std::string mistake_in_precisions(const std::vector<std::string>& all) {
  for (const std::string& text : all) {
    const std::size_t equals = text.rfind('=');
    const std::string type = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (equals == 0 || (type != "float32" && type != "bfloat16")) {
      return "'" + text + "' is no \"pattern=float32\" or \"pattern=bfloat16\"";
    }
  }
  return {};
}

}  // namespace

void TrainConfig::describe(config::Fields<TrainConfig>& f) {
  using T = TrainConfig;
  f.add("batch", &T::batch).at_least(1).unit("samples").help("samples a step, over all ranks");
  f.add("epochs", &T::epochs).at_least(0).help("passes over the data, where steps is not set");
  f.add("steps", &T::steps).at_least(0).help("updates to make; instead of epochs");
  f.add("seed", &T::seed).help("decides first weights, order of samples, augmentation, dropout");
  f.add("virtual_ranks", &T::virtual_ranks)
      .range(0, 4096)
      .help(
          "slots a batch is cut into; fixed, the bits do not depend on the number of ranks; "
          "0: one a rank");
  f.add("accumulate", &T::accumulate)
      .range(1, 4096)
      .help("slots a rank runs one after the other, where virtual_ranks is 0");
  f.add("threads", &T::threads)
      .range(0, 1024)
      .help("for each rank's arithmetic; 0: its share of the cores, or 1 with virtual_ranks");
  f.add("precision", &T::precision)
      .names({{"float32", Precision::Float32},
              {"bfloat16", Precision::BFloat16},
              {"float16", Precision::Float16}})
      .help("of forward and backward; parameters and updates stay float32");
  f.add("module_precision", &T::module_precision)
      .check(mistake_in_precisions)
      .help(
          "\"pattern=float32\" or \"pattern=bfloat16\": precision of blocks by the names of their "
          "parameters; the last that fits counts");
  f.add("float32_steps", &T::float32_steps)
      .at_least(0)
      .unit("steps")
      .help("in float32 at the beginning, before precision takes over");
  f.add("fallback_steps", &T::fallback_steps)
      .at_least(0)
      .unit("steps")
      .help("in float32 after one in 16 bits whose loss is not finite or jumps; 0: never");
  f.add("fallback_jump", &T::fallback_jump)
      .at_least(0)
      .help("deviations of the loss above its running mean that are a jump; 0: none is");
  f.require([](const T& c) {
    const bool is_lost =
        c.precision == Precision::Float32 && (c.float32_steps > 0 || c.fallback_steps > 0);
    return is_lost ? std::string("float32_steps and fallback_steps need a precision of 16 bits")
                   : std::string();
  });
  f.add("non_finite", &T::non_finite)
      .names(
          {{"stop", NonFinite::Stop}, {"skip", NonFinite::Skip}, {"rollback", NonFinite::Rollback}})
      .help("what to do where loss or gradient is not finite");
  f.add("non_finite_max", &T::non_finite_max)
      .at_least(1)
      .help("skipped or rolled back in a row before the job stops");
  f.add("log_every", &T::log_every)
      .at_least(0)
      .unit("steps")
      .help(
          "between plain lines of progress and between points in metrics.jsonl; 0: by time, a line "
          "in five seconds and two points per second");
}

void EvalConfig::describe(config::Fields<EvalConfig>& f) {
  using T = EvalConfig;
  f.add("every", &T::every).at_least(0).unit("steps").help("between evaluations; 0: once an epoch");
  f.add("batch", &T::batch).at_least(1).unit("samples").help("evaluated at once");
  f.add("metric", &T::metric)
      .check(mistake_in_metric)
      .help(
          "by which the best is known: loss, accuracy, perplexity, f1, balanced_accuracy, top5 "
          "(2 to 10), roc_auc, calibration_error; mae or r2 of numbers");
  f.add("patience", &T::patience)
      .at_least(0)
      .help("evaluations in a row without a better one before the job stops; 0: never");
}

void CheckpointConfig::describe(config::Fields<CheckpointConfig>& f) {
  using T = CheckpointConfig;
  f.add("every", &T::every)
      .at_least(0)
      .unit("steps")
      .help(
          "between checkpoints; 0: once an epoch, and after 1000 steps without one; always at the "
          "end, and at a new best where keep_best is on");
  f.add("keep", &T::keep).at_least(1).help("how many of the latest stay");
  f.add("keep_best", &T::is_best_kept).help("whether the best by eval.metric stays too");
  f.add("compress", &T::compress)
      .names({{"none", Compression::None}, {"zstd", Compression::Zstd}})
      .help("how they lie on disk; compressed, other programs do not read them");
  f.add("compress_level", &T::compress_level)
      .range(1, 19)
      .help("of zstd; more is smaller and slower");
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
