#include "trireme/train/recipe/recipe.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>
#include <sstream>
#include <string_view>

#include "trireme/base/bytes.h"
#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/hash/sha256.h"
#include "trireme/data/kinds.h"
#include "trireme/data/labels.h"
#include "trireme/optim/kinds.h"
#include "trireme/parallel/kinds.h"
#include "trireme/parallel/parallel_config.h"
#include "trireme/train/balance/balance_config.h"
#include "trireme/train/recipe/config.h"
#include "trireme/train/recovery/elastic_config.h"

namespace trireme::train {
namespace {

using model::kLossSection;

// The kinds of these sections may come from another worker.
constexpr std::array kOpenSections = {model::kModelSection, "data", kLossSection,
                                      parallel::kSyncSection};
constexpr const char* kWorkerRemedy =
    "if a program of your own adds this kind, name the program with --worker PROGRAM";

struct AutoLossConfig {
  static void describe(config::Fields<AutoLossConfig>&) {}
};

// The settings of every loss for classes.
template <class Config>
void describe_weights(config::Fields<Config>& f) {
  f.add("class_weights", &Config::class_weights)
      .at_least(0.0)
      .help("weight of the samples of each class; empty: 1");
  f.add("balanced", &Config::is_balanced)
      .help("choose class_weights so that all classes of the training data have the same weight");
  f.require([](const Config& c) {
    return c.is_balanced && !c.class_weights.empty()
               ? std::string("balanced is not supported with class_weights")
               : std::string();
  });
}

struct CrossEntropyConfig {
  double label_smoothing = 0;
  std::vector<double> class_weights = {};  // NOLINT(readability-redundant-member-init)
  bool is_balanced = false;

  static void describe(config::Fields<CrossEntropyConfig>& f) {
    f.add("label_smoothing", &CrossEntropyConfig::label_smoothing)
        .range(0.0, 1.0)
        .help("fraction of the target probability that is spread over all classes");
    describe_weights(f);
  }
};

struct FocalConfig {
  double gamma = 2;
  std::vector<double> class_weights = {};  // NOLINT(readability-redundant-member-init)
  bool is_balanced = false;

  static void describe(config::Fields<FocalConfig>& f) {
    f.add("gamma", &FocalConfig::gamma)
        .range(1e-3, 100.0)
        .help("exponent of the weight (1 - p)^gamma of a sample whose class has probability p");
    describe_weights(f);
  }
};

struct MseConfig {
  static void describe(config::Fields<MseConfig>&) {}
};

template <class Config>
std::vector<double> weights_of(const Config& config, const data::Form& form,
                               const CountClasses& count) {
  if (config.is_balanced) {
    TRIREME_CHECK(count != nullptr,
                  "balanced weights require the class counts of the training data");
    return data::balanced_weights(count());
  }
  if (config.class_weights.empty() || std::ssize(config.class_weights) == form.classes) {
    return config.class_weights;
  }
  throw Error(ErrorCode::InvalidInput,
              "loss.class_weights has " + std::to_string(config.class_weights.size()) +
                  " numbers, but the data have " + std::to_string(form.classes) + " classes");
}

// Settings that do not change the result of a job: its duration and its reports, and the source of
// initial weights, which no longer matters once there is a checkpoint.
constexpr std::array<std::string_view, 19> kFree = {"sync.",
                                                    "parallel.",
                                                    "elastic.",
                                                    "balance.",
                                                    "train.epochs",
                                                    "train.steps",
                                                    "train.non_finite",
                                                    "train.non_finite_max",
                                                    "train.log_every",
                                                    "train.device",
                                                    "data.num_workers",
                                                    "data.prefetch_factor",
                                                    "data.bad_samples",
                                                    "eval.",
                                                    "checkpoint.",
                                                    "model.load",
                                                    "model.load_fresh",
                                                    "model.load_strict",
                                                    "model.load_renames"};

// Settings that affect the result, but with which a checkpoint's weights, optimizer state and
// position in the data keep their meaning.
constexpr std::array<std::string_view, 35> kChangeable = {"optim.lr",
                                                          "optim.weight_decay",
                                                          "optim.betas",
                                                          "optim.eps",
                                                          "optim.max_grad_norm",
                                                          "optim.max_grad_value",
                                                          "optim.decay_all",
                                                          "optim.no_decay",
                                                          "optim.lr_factors",
                                                          "optim.layer_decay",
                                                          "optim.second.lr",
                                                          "optim.second.weight_decay",
                                                          "optim.second.betas",
                                                          "optim.second.eps",
                                                          "schedule.",
                                                          "loss.label_smoothing",
                                                          "loss.class_weights",
                                                          "loss.balanced",
                                                          "loss.gamma",
                                                          "train.global_batch_size",
                                                          "train.grad_accum_steps",
                                                          "train.logical_ranks",
                                                          "train.num_threads",
                                                          "train.precision",
                                                          "train.module_precision",
                                                          "train.fp32_steps",
                                                          "train.fallback_steps",
                                                          "train.fallback_jump",
                                                          "model.dropout",
                                                          "model.attention_dropout",
                                                          "model.activation_checkpointing",
                                                          "data.file",
                                                          "data.folder",
                                                          "data.train",
                                                          "data.test"};

bool is_among(std::span<const std::string_view> all, const std::string& key) {
  return std::any_of(all.begin(), all.end(), [&](std::string_view one) {
    return one.ends_with('.') ? key.starts_with(one) : key == one;
  });
}

bool may_differ(const std::string& key) {
  return is_among(kFree, key);
}

// The path of a tokenizer may change. Its content is compared when the data are opened.
constexpr const char* kTokenizer = "data.tokenizer";

// The settings of a resolved recipe, which has one setting per line, as TOML text.
std::map<std::string, std::string> settings_in(const std::string& resolved) {
  std::map<std::string, std::string> settings;
  std::istringstream lines(resolved);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('[')) {
      section = line.substr(1, line.find(']') - 1);
    } else if (equals != std::string::npos) {
      settings[section + "." + line.substr(0, equals)] = line.substr(equals + 3);
    }
  }
  return settings;
}

struct SettingValues {
  std::string key;
  std::string was, is;  // as TOML, or "not set"
};

bool is_moved_tokenizer(const SettingValues& values) {
  const auto is_path = [](const std::string& text) { return text.size() > 2 && text[0] == '"'; };
  return values.key == kTokenizer && is_path(values.was) && is_path(values.is);
}

std::vector<SettingChange> list_differences(
    const std::string& resolved, const config::Config& config,
    const std::function<bool(const SettingValues&)>& is_left_out) {
  const auto then = settings_in(resolved);
  const auto now = settings_in(config.to_toml());
  auto keys = then;
  keys.insert(now.begin(), now.end());
  const auto value_in = [](const auto& settings, const std::string& key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string("not set") : found->second;
  };
  std::vector<SettingChange> all;
  for (const auto& [key, any] : keys) {
    const std::string was = value_in(then, key);
    const std::string is = value_in(now, key);
    if (was == is || is_left_out({.key = key, .was = was, .is = is})) continue;
    all.push_back({.key = key, .text = key + " (" + was + ", now " + is + ")"});
  }
  return all;
}

}  // namespace

Kinds built_in_kinds() {
  Kinds kinds;
  model::add_models(kinds.models);
  data::add_kinds(kinds.data);
  return kinds;
}

config::Schema recipe_schema(const Kinds& kinds) {
  config::Schema schema;
  kinds.models.add_sections(schema);
  kinds.data.add_sections(schema);
  schema.section("train", "duration, batch size, precision and reproducibility of training")
      .fields<TrainConfig>();
  config::Section& losses = schema.section(kLossSection, "the loss function");
  losses.kind<AutoLossConfig>("auto", "cross entropy for classes, mse for numbers")
      .kind<CrossEntropyConfig>("cross_entropy", "cross entropy of the correct class")
      .kind<FocalConfig>(
          "focal", "cross entropy with more weight on samples that the model does not predict well")
      .kind<MseConfig>("mse", "mean squared error");
  kinds.losses.add_kinds(losses);
  optim::add_optim_sections(schema);
  kinds.strategies.add_section(schema);
  schema.section(parallel::kParallelSection, "how the ranks divide the work and the model")
      .fields<parallel::ParallelConfig>();
  schema.section(kElasticSection, "jobs whose workers may die, leave and join during training")
      .fields<ElasticConfig>();
  add_balance_section(schema);
  schema.section("eval", "evaluations during training").fields<EvalConfig>();
  schema.section("checkpoint", "checkpoints during training").fields<CheckpointConfig>();
  for (const char* name : kOpenSections) {
    schema.section(name).remedy_for_unknown_kinds(kWorkerRemedy);
  }
  return schema;
}

std::vector<std::int64_t> class_counts_of(const data::Source& train) {
  return data::count_labels(data::labels_of(train, "loss.balanced"), train.form().classes);
}

std::shared_ptr<const model::Loss> make_loss(const config::Config& config, const Kinds& kinds,
                                             const data::Form& form, const CountClasses& count) {
  if (auto own = kinds.losses.make(config, form)) return own;
  if (const auto* entropy = config.find<CrossEntropyConfig>(kLossSection)) {
    return model::cross_entropy({.label_smoothing = entropy->label_smoothing,
                                 .class_weights = weights_of(*entropy, form, count)});
  }
  if (const auto* focal = config.find<FocalConfig>(kLossSection)) {
    if (form.classes > 0 && form.target_type != at::kLong) {
      throw Error(ErrorCode::InvalidInput,
                  "loss.kind = \"focal\" is not supported with data.mixup or data.cutmix");
    }
    return model::cross_entropy(
        {.class_weights = weights_of(*focal, form, count), .focus = focal->gamma});
  }
  if (config.find<MseConfig>(kLossSection) != nullptr || form.classes == 0) return model::mse();
  return model::cross_entropy();
}

std::shared_ptr<const model::Loss> loss_of(const config::Config& config, const Kinds& kinds,
                                           const model::Model& model, const data::Form& form,
                                           const CountClasses& count) {
  auto own = model.own_loss();
  if (!own) return make_loss(config, kinds, form, count);
  if (config.find<AutoLossConfig>(kLossSection) == nullptr) {
    throw Error(ErrorCode::InvalidInput, "model.kind = \"" + config.kind(model::kModelSection) +
                                             "\" has its own loss; remove loss.kind");
  }
  return own;
}

std::string job_hash(const config::Config& config) {
  std::string all;
  for (const config::Setting& setting : config.settings()) {
    if (may_differ(setting.key())) continue;
    const std::string value = to_plain(setting.value);
    const bool is_place = setting.key() == kTokenizer && !value.empty();
    all += setting.key() + "=" + (is_place ? "a tokenizer" : value) + "\n";
  }
  return to_hex(sha256(bytes_of(all))).substr(0, 16);
}

std::string recipe_hash(const config::Config& config) {
  return to_hex(sha256(bytes_of(config.to_toml()))).substr(0, 16);
}

std::vector<SettingChange> differences(const std::string& resolved, const config::Config& config) {
  return list_differences(resolved, config, [](const SettingValues& values) {
    return may_differ(values.key) || is_moved_tokenizer(values);
  });
}

std::vector<SettingChange> all_differences(const std::string& resolved,
                                           const config::Config& config) {
  return list_differences(resolved, config, [](const SettingValues&) { return false; });
}

std::string to_text(const std::vector<SettingChange>& changes) {
  std::string all;
  for (const SettingChange& one : changes) all += (all.empty() ? "" : ", ") + one.text;
  return all;
}

bool can_change(const std::string& key) {
  return may_differ(key) || is_among(kChangeable, key);
}

}  // namespace trireme::train
