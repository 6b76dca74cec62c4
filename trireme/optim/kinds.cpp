#include "trireme/optim/kinds.h"

#include "trireme/base/check.h"
#include "trireme/optim/adam.h"
#include "trireme/optim/optim_config.h"
#include "trireme/optim/schedule_config.h"
#include "trireme/optim/sgd.h"

namespace trireme::optim {
namespace {

// Calls `use` with the struct of the kind that [optim] is of.
template <class Use>
auto with_rule(const config::Config& config, const Use& use) {
  if (const auto* adamw = config.find<AdamwConfig>(kOptimSection)) return use(*adamw);
  if (const auto* adam = config.find<AdamConfig>(kOptimSection)) return use(*adam);
  return use(config.get<SgdConfig>(kOptimSection));
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

}  // namespace

void add_optim_sections(config::Schema& schema) {
  schema.section(kOptimSection, "how gradients change weights")
      .fields<OptimConfig>()
      .kind<AdamwConfig>("adamw", "Adam with weight decay apart from the gradient")
      .kind<AdamConfig>("adam", "steps scaled by running means of gradients and their squares")
      .kind<SgdConfig>("sgd", "gradient descent with momentum");
  schema.section(kScheduleSection, "how the learning rate changes while a job runs")
      .fields<WarmUpConfig>()
      .kind<ConstantScheduleConfig>("constant", "the same rate throughout")
      .kind<StepScheduleConfig>("step", "drops at regular steps")
      .kind<LinearScheduleConfig>("linear", "falls evenly to the job's end")
      .kind<CosineScheduleConfig>("cosine", "falls along half a cosine to the job's end");
}

std::unique_ptr<Optimizer> make_optimizer(const config::Config& config) {
  return with_rule(config, [](const auto& rule) { return rule_of(rule); });
}

double learning_rate_of(const config::Config& config) {
  return with_rule(config, [](const auto& rule) { return rule.learning_rate; });
}

double weight_decay_of(const config::Config& config) {
  return with_rule(config, [](const auto& rule) { return rule.weight_decay; });
}

Schedule make_schedule(const config::Config& config, std::int64_t steps) {
  Schedule::Options options{.rate = learning_rate_of(config),
                            .steps = steps,
                            .warmup = config.get<WarmUpConfig>(kScheduleSection).warmup_steps};
  if (const auto* step = config.find<StepScheduleConfig>(kScheduleSection)) {
    options.kind = Schedule::Kind::Step;
    options.every = step->every;
    options.factor = step->factor;
  } else if (const auto* linear = config.find<LinearScheduleConfig>(kScheduleSection)) {
    options.kind = Schedule::Kind::Linear;
    options.final_factor = linear->final_factor;
  } else if (const auto* cosine = config.find<CosineScheduleConfig>(kScheduleSection)) {
    options.kind = Schedule::Kind::Cosine;
    options.final_factor = cosine->final_factor;
  }
  return Schedule(options);
}

}  // namespace trireme::optim
