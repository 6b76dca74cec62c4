#include "trireme/parallel/kinds.h"

#include <optional>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/optim/groups.h"
#include "trireme/optim/kinds.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/scheduled_sync.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

std::vector<Stretch> expanded(const SyncOptions& options, const Strategies& strategies) {
  std::vector<Stretch> all;
  for (const Stretch& stretch : options.stretches) {
    const Strategy& strategy = strategies.named(stretch.kind);
    for (Stretch& one :
         strategy.expand ? strategy.expand(stretch, options) : std::vector<Stretch>{stretch}) {
      if (!all.empty() && one.begin <= all.back().begin) {
        reject("sync.schedule: " + one.kind + " at step " + std::to_string(one.begin) +
               " begins before " + all.back().kind + " at step " +
               std::to_string(all.back().begin) + "; correct the steps of the schedule");
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

// A strategy that is replaced by others at given steps.
std::shared_ptr<GradientSync> make_scheduled(const SyncOptions& options,
                                             const std::vector<SyncOptions>& parts,
                                             const Strategies& strategies) {
  ScheduledSync::Options scheduled{.parameters = options.parameters,
                                   .states = options.optimizer->state_names(),
                                   .group = options.group,
                                   .is_elastic = options.is_elastic,
                                   .faults = options.faults};
  for (const SyncOptions& own : parts) {
    const Stretch& stretch = own.stretches[0];
    const Strategy& strategy = strategies.named(stretch.kind);
    scheduled.parts.push_back(
        {.begin = stretch.begin,
         .make = [strategy, stretch, own] { return strategy.make(stretch.settings, own); },
         .has_replicas = strategy.has_replicas(own)});
  }
  return std::make_shared<ScheduledSync>(std::move(scheduled));
}

}  // namespace

Treat treatment_of(const config::Config& config) {
  const optim::Groups groups(config.get<optim::OptimConfig>(optim::kOptimSection));
  const double decay = optim::weight_decay_of(config);
  const std::optional<optim::SecondRule> second = optim::second_rule_of(config);
  return [groups, decay, second](const std::string& name, const at::Tensor& tensor) {
    const optim::ParamGroup group = groups.group_of(name, tensor.dim());
    if (second && second->is_for(name)) {
      return Treatment{.lr_factor = group.lr_factor * second->lr_factor,
                       .weight_decay = group.is_decayed ? second->weight_decay : 0,
                       .rule = 1};
    }
    return Treatment{.lr_factor = group.lr_factor, .weight_decay = group.is_decayed ? decay : 0};
  };
}

bool is_synchronized(const SyncOptions& options) {
  return options.is_elastic || options.commit_group.value_or(options.group).size() > 1;
}

std::vector<SyncOptions> parts_of(const SyncOptions& options, const Strategies& strategies) {
  std::vector<SyncOptions> parts;
  for (const Stretch& stretch : expanded(options, strategies)) {
    SyncOptions& own = parts.emplace_back(options);
    own.stretches = {stretch};
    own.pace = stretch.pace;
  }
  return parts;
}

std::shared_ptr<GradientSync> make_gradient_sync(SyncOptions options,
                                                 const Strategies& strategies) {
  TRIREME_CHECK_EQ(options.commit_group.value_or(options.group).size(),
                   options.group.size() * options.replica_group.size(), "ranks that commit steps");
  if (!is_synchronized(options)) return make_single_rank(options);
  expect_on_cpu(options.parameters);
  std::vector<SyncOptions> parts = parts_of(options, strategies);
  for (const SyncOptions& own : parts) {
    // Unsupported settings are refused now, and not when their step comes.
    strategies.check(strategies.named(own.stretches[0].kind), own);
    if (own.has_codec()) expect_float32(own.parameters);
  }
  if (parts.size() > 1) return make_scheduled(options, parts, strategies);
  const Stretch stretch = parts[0].stretches[0];
  return strategies.named(stretch.kind).make(stretch.settings, std::move(parts[0]));
}

}  // namespace trireme::parallel
