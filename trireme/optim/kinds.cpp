#include "trireme/optim/kinds.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/optim/average_config.h"
#include "trireme/optim/averaged.h"
#include "trireme/optim/optim_config.h"
#include "trireme/optim/rule/adafactor.h"
#include "trireme/optim/rule/adagrad.h"
#include "trireme/optim/rule/adam.h"
#include "trireme/optim/rule/lamb.h"
#include "trireme/optim/rule/lars.h"
#include "trireme/optim/rule/lion.h"
#include "trireme/optim/rule/muon.h"
#include "trireme/optim/rule/rmsprop.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/optim/rule/two_rules.h"
#include "trireme/optim/schedule/schedule_config.h"
#include "trireme/optim/whole_config.h"

namespace trireme::optim {
namespace {

template <class... Rules>
struct RuleList {};
// The settings of every optimizer; the last one is the default case.
using AllRules = RuleList<AdamwConfig, AdamConfig, AdagradConfig, RmspropConfig, LionConfig,
                          LambConfig, LarsConfig, AdafactorConfig, MuonConfig, SgdConfig>;

template <class Use, class Rule, class... Others>
auto with_rule_of(RuleList<Rule, Others...>, const config::Config& config, const char* section,
                  const Use& use) {
  if constexpr (sizeof...(Others) == 0) {
    return use(config.get<Rule>(section));
  } else {
    if (const auto* found = config.find<Rule>(section)) return use(*found);
    return with_rule_of(RuleList<Others...>{}, config, section, use);
  }
}

// Calls `use` with the settings struct of the section's kind.
template <class Use>
auto with_rule(const config::Config& config, const Use& use, const char* section = kOptimSection) {
  return with_rule_of(AllRules{}, config, section, use);
}

bool has_second(const config::Config& config) {
  const bool is_there = config.find<NoSecondConfig>(kSecondSection) == nullptr;
  const bool is_used = !config.get<SecondConfig>(kSecondSection).names.empty();
  if (is_there == is_used) return is_there;
  throw Error(ErrorCode::InvalidInput,
              is_there ? "optim.second.names: name the weights that the second optimizer updates"
                       : "optim.second.kind: choose the optimizer that updates optim.second.names");
}

}  // namespace

static void add_rules(config::Section& section) {
  section.kind<AdamwConfig>("adamw", "Adam with decoupled weight decay")
      .kind<AdamConfig>("adam", "Adam; weight decay is added to the gradient")
      .kind<SgdConfig>("sgd", "stochastic gradient descent with momentum")
      .kind<AdagradConfig>("adagrad",
                           "Adagrad: divides by the root of the sum of squared gradients")
      .kind<RmspropConfig>("rmsprop",
                           "RMSprop: divides by the root of a running mean of squared gradients")
      .kind<LionConfig>("lion",
                        "Lion: steps in the direction of the sign of a running mean of gradients")
      .kind<LambConfig>("lamb", "LAMB: Adam scaled to each parameter's norm, for large batches")
      .kind<LarsConfig>("lars",
                        "LARS: momentum with a learning rate per parameter, for large batches")
      .kind<AdafactorConfig>("adafactor",
                             "Adafactor: stores only row and column means of squared gradients")
      .kind<MuonConfig>("muon",
                        "Muon: orthogonalized momentum for matrices, AdamW for other parameters");
}

void add_optim_sections(config::Schema& schema) {
  add_rules(schema.section(kOptimSection, "the optimizer").fields<OptimConfig>());
  add_rules(schema.section(kSecondSection, "a second optimizer for some of the weights")
                .fields<SecondConfig>()
                .kind<NoSecondConfig>("none", "no second optimizer: [optim] updates all weights"));
  schema
      .section(kAverageSection, "averaging of the weights; evaluations and exports use the average")
      .kind<NoAverageConfig>("none", "no average: the current weights")
      .kind<EmaConfig>("ema", "exponential moving average (EMA) of all updates")
      .kind<SwaConfig>(
          "swa", "stochastic weight averaging (SWA): equal weights for some updates near the end");
  schema.section(kScheduleSection, "the learning-rate schedule")
      .fields<WarmUpConfig>()
      .kind<ConstantScheduleConfig>("constant", "constant learning rate")
      .kind<StepScheduleConfig>("step", "multiplied by a factor at regular steps")
      .kind<LinearScheduleConfig>("linear", "decreases linearly until the end of the job")
      .kind<CosineScheduleConfig>("cosine",
                                  "decreases along half a cosine until the end of the job")
      .kind<ExponentialScheduleConfig>("exponential", "multiplied by a factor at each step")
      .kind<PolynomialScheduleConfig>("polynomial", "decreases with a power of the remaining steps")
      .kind<InverseSqrtScheduleConfig>("inverse_sqrt",
                                       "decreases with the inverse square root of the step number")
      .kind<OneCycleScheduleConfig>("one_cycle",
                                    "increases, then decreases until the end of the job")
      .kind<WarmRestartsScheduleConfig>("warm_restarts",
                                        "decreases along a cosine, with warm restarts")
      .kind<PlateauScheduleConfig>("reduce_on_plateau", "reduced when evaluations stop improving");
}

std::unique_ptr<Optimizer> make_optimizer(const config::Config& config) {
  const auto make = []<class Config>(const Config& settings) -> std::unique_ptr<Optimizer> {
    return std::make_unique<typename Config::Rule>(settings);
  };
  std::unique_ptr<Optimizer> rule = with_rule(config, make);
  if (has_second(config)) {
    rule = std::make_unique<TwoRules>(std::move(rule), with_rule(config, make, kSecondSection));
  }
  if (const auto* ema = config.find<EmaConfig>(kAverageSection)) {
    return std::make_unique<Averaged>(std::move(rule), *ema);
  }
  if (const auto* swa = config.find<SwaConfig>(kAverageSection)) {
    return std::make_unique<Averaged>(std::move(rule), *swa);
  }
  return rule;
}

bool has_average(const config::Config& config) {
  return config.find<NoAverageConfig>(kAverageSection) == nullptr;
}

double learning_rate_of(const config::Config& config) {
  return with_rule(config, [](const auto& rule) { return rule.lr; });
}

double weight_decay_of(const config::Config& config) {
  return with_rule(config, [](const auto& rule) { return rule.weight_decay; });
}

std::optional<SecondRule> second_rule_of(const config::Config& config) {
  if (!has_second(config)) return std::nullopt;
  const double first = learning_rate_of(config);
  if (first <= 0) {
    throw Error(ErrorCode::InvalidInput,
                "optim.lr = 0 leaves optim.second without a schedule; use model.freeze "
                "to keep weights unchanged");
  }
  return with_rule(
      config,
      [&](const auto& rule) -> std::optional<SecondRule> {
        return SecondRule{.names = config.get<SecondConfig>(kSecondSection).names,
                          .lr_factor = rule.lr / first,
                          .weight_decay = rule.weight_decay};
      },
      kSecondSection);
}

bool SecondRule::is_for(std::string_view name) const {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& pattern) { return is_match(pattern, name); });
}

namespace {

// The options of the schedule that [schedule] selects, if it is one of these.
template <class... Configs>
Schedule::Options found_options(const config::Config& config) {
  Schedule::Options options;
  const auto use = [&](const auto* found) {
    if (found != nullptr) options = found->options();
  };
  (use(config.find<Configs>(kScheduleSection)), ...);
  return options;
}

}  // namespace

// A schedule that reduces on plateaus is constant except for the factor of make_plateau().
Schedule make_schedule(const config::Config& config, std::int64_t steps) {
  Schedule::Options options =
      found_options<ConstantScheduleConfig, StepScheduleConfig, LinearScheduleConfig,
                    CosineScheduleConfig, ExponentialScheduleConfig, PolynomialScheduleConfig,
                    InverseSqrtScheduleConfig, OneCycleScheduleConfig, WarmRestartsScheduleConfig>(
          config);
  options.rate = learning_rate_of(config);
  options.steps = steps;
  options.warmup = config.get<WarmUpConfig>(kScheduleSection).warmup_steps;
  return Schedule(options);
}

std::optional<Plateau> make_plateau(const config::Config& config, bool is_larger_better) {
  const auto* found = config.find<PlateauScheduleConfig>(kScheduleSection);
  if (found == nullptr) return std::nullopt;
  return Plateau({.factor = found->factor,
                  .patience = found->patience,
                  .threshold = found->threshold,
                  .cooldown = found->cooldown,
                  .min_lr_factor = found->min_lr_factor,
                  .is_larger_better = is_larger_better});
}

}  // namespace trireme::optim
