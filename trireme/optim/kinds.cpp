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
#include "trireme/optim/second_config.h"
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
              is_there ? "optim.second.names: say which weights the second rule updates"
                       : "optim.second.kind: say by which rule optim.second.names are updated");
}

std::unique_ptr<Optimizer> rule_of(const SgdConfig& c) {
  return std::make_unique<Sgd>(c);
}
std::unique_ptr<Optimizer> rule_of(const AdamConfig& c) {
  return std::make_unique<Adam>(c);
}
std::unique_ptr<Optimizer> rule_of(const AdamwConfig& c) {
  return std::make_unique<Adam>(c);
}
std::unique_ptr<Optimizer> rule_of(const AdagradConfig& c) {
  return std::make_unique<Adagrad>(c);
}
std::unique_ptr<Optimizer> rule_of(const RmspropConfig& c) {
  return std::make_unique<Rmsprop>(c);
}
std::unique_ptr<Optimizer> rule_of(const LionConfig& c) {
  return std::make_unique<Lion>(c);
}
std::unique_ptr<Optimizer> rule_of(const LambConfig& c) {
  return std::make_unique<Lamb>(c);
}
std::unique_ptr<Optimizer> rule_of(const LarsConfig& c) {
  return std::make_unique<Lars>(c);
}
std::unique_ptr<Optimizer> rule_of(const AdafactorConfig& c) {
  return std::make_unique<Adafactor>(c);
}
std::unique_ptr<Optimizer> rule_of(const MuonConfig& c) {
  return std::make_unique<Muon>(c);
}

}  // namespace

static void add_rules(config::Section& section) {
  section.kind<AdamwConfig>("adamw", "Adam with weight decay apart from the gradient")
      .kind<AdamConfig>("adam", "steps scaled by running means of gradients and their squares")
      .kind<SgdConfig>("sgd", "gradient descent with momentum")
      .kind<AdagradConfig>("adagrad", "steps that shrink with the sum of squared gradients")
      .kind<RmspropConfig>("rmsprop", "steps over the root of a mean of squared gradients")
      .kind<LionConfig>("lion", "steps by the sign of a mean of gradients")
      .kind<LambConfig>("lamb", "Adam's steps, as long as their parameter is; large batches")
      .kind<LarsConfig>("lars", "momentum with a rate for each parameter; large batches")
      .kind<AdafactorConfig>("adafactor", "of a matrix's squares it keeps rows and columns only")
      .kind<MuonConfig>("muon", "matrices move along their momentum made orthogonal");
}

void add_optim_sections(config::Schema& schema) {
  add_rules(schema.section(kOptimSection, "how gradients change weights").fields<OptimConfig>());
  add_rules(schema.section(kSecondSection, "another rule for some of the weights")
                .fields<SecondConfig>()
                .kind<NoSecondConfig>("none", "no other: optim.kind is for all"));
  schema.section(kAverageSection, "the mean of the weights that evaluations and exports take")
      .kind<NoAverageConfig>("none", "no mean: the weights as they are")
      .kind<EmaConfig>("ema", "exponential, of all updates")
      .kind<SwaConfig>("swa", "of equal parts, of some updates near the end");
  schema.section(kScheduleSection, "how the learning rate changes while a job runs")
      .fields<WarmUpConfig>()
      .kind<ConstantScheduleConfig>("constant", "the same rate throughout")
      .kind<StepScheduleConfig>("step", "drops at regular steps")
      .kind<LinearScheduleConfig>("linear", "falls evenly to the job's end")
      .kind<CosineScheduleConfig>("cosine", "falls along half a cosine to the job's end")
      .kind<ExponentialScheduleConfig>("exponential", "falls by the same factor at each step")
      .kind<PolynomialScheduleConfig>("polynomial", "falls with a power of the steps left")
      .kind<InverseSqrtScheduleConfig>("inverse_sqrt", "falls with the root of the steps made")
      .kind<OneCycleScheduleConfig>("one_cycle", "rises, then falls to the job's end")
      .kind<WarmRestartsScheduleConfig>("warm_restarts", "falls along a cosine, again and again")
      .kind<PlateauScheduleConfig>("reduce_on_plateau", "drops when evaluations get no better");
}

std::unique_ptr<Optimizer> make_optimizer(const config::Config& config) {
  const auto make = [](const auto& settings) { return rule_of(settings); };
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
  return with_rule(config, [](const auto& rule) { return rule.learning_rate; });
}

double weight_decay_of(const config::Config& config) {
  return with_rule(config, [](const auto& rule) { return rule.weight_decay; });
}

std::optional<SecondRule> second_rule_of(const config::Config& config) {
  if (!has_second(config)) return std::nullopt;
  const double first = learning_rate_of(config);
  if (first <= 0) {
    throw Error(ErrorCode::InvalidInput,
                "optim.learning_rate = 0 leaves optim.second without a schedule: model.freeze "
                "keeps weights as they are");
  }
  return with_rule(
      config,
      [&](const auto& rule) -> std::optional<SecondRule> {
        return SecondRule{.names = config.get<SecondConfig>(kSecondSection).names,
                          .rate_factor = rule.learning_rate / first,
                          .weight_decay = rule.weight_decay};
      },
      kSecondSection);
}

bool SecondRule::is_for(std::string_view name) const {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& pattern) { return is_match(pattern, name); });
}

namespace {

using Options = Schedule::Options;

// The settings of each kind besides the learning rate.
void set_kind(Options& o, const ConstantScheduleConfig&) {
  o.kind = Schedule::Kind::Constant;
}
void set_kind(Options& o, const StepScheduleConfig& c) {
  o.kind = Schedule::Kind::Step;
  o.every = c.every;
  o.factor = c.factor;
}
void set_kind(Options& o, const LinearScheduleConfig& c) {
  o.kind = Schedule::Kind::Linear;
  o.final_factor = c.final_factor;
}
void set_kind(Options& o, const CosineScheduleConfig& c) {
  o.kind = Schedule::Kind::Cosine;
  o.final_factor = c.final_factor;
}
void set_kind(Options& o, const ExponentialScheduleConfig& c) {
  o.kind = Schedule::Kind::Exponential;
  o.factor = c.factor;
}
void set_kind(Options& o, const PolynomialScheduleConfig& c) {
  o.kind = Schedule::Kind::Polynomial;
  o.power = c.power;
  o.final_factor = c.final_factor;
}
void set_kind(Options& o, const InverseSqrtScheduleConfig&) {
  o.kind = Schedule::Kind::InverseSqrt;
}
void set_kind(Options& o, const OneCycleScheduleConfig& c) {
  o.kind = Schedule::Kind::OneCycle;
  o.rise_share = c.rise_share;
  o.first_factor = c.first_factor;
  o.final_factor = c.final_factor;
}
void set_kind(Options& o, const WarmRestartsScheduleConfig& c) {
  o.kind = Schedule::Kind::WarmRestarts;
  o.every = c.every;
  o.growth = c.growth;
  o.final_factor = c.final_factor;
}

template <class... Configs>
void set_found_kind(Options& options, const config::Config& config) {
  const auto set_if = [&]<class C>(const C* found) {
    if (found != nullptr) set_kind(options, *found);
  };
  (set_if(config.find<Configs>(kScheduleSection)), ...);
}

}  // namespace

// A schedule that reduces on plateaus is constant except for the factor of make_plateau().
Schedule make_schedule(const config::Config& config, std::int64_t steps) {
  Options options{.rate = learning_rate_of(config),
                  .steps = steps,
                  .warmup = config.get<WarmUpConfig>(kScheduleSection).warmup_steps};
  set_found_kind<ConstantScheduleConfig, StepScheduleConfig, LinearScheduleConfig,
                 CosineScheduleConfig, ExponentialScheduleConfig, PolynomialScheduleConfig,
                 InverseSqrtScheduleConfig, OneCycleScheduleConfig, WarmRestartsScheduleConfig>(
      options, config);
  return Schedule(options);
}

std::optional<Plateau> make_plateau(const config::Config& config, bool is_larger_better) {
  const auto* found = config.find<PlateauScheduleConfig>(kScheduleSection);
  if (found == nullptr) return std::nullopt;
  return Plateau({.factor = found->factor,
                  .patience = found->patience,
                  .threshold = found->threshold,
                  .cooldown = found->cooldown,
                  .final_factor = found->final_factor,
                  .is_larger_better = is_larger_better});
}

}  // namespace trireme::optim
