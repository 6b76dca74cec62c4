// Makes the synchronization strategy that a recipe names.

#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/kinds.h"
#include "trireme/parallel/scheduled_sync.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

// Throws InvalidInput if the settings cannot be combined.
void check(const Strategy& strategy, const SyncOptions& options, const Strategies& strategies) {
  strategies.check(strategy, options);
  if (options.has_codec()) expect_float32(options.parameters);
  // The ranks of a replica would have to give up the same pass.
  if (options.can_leave_out && options.replica_group.size() > 1) {
    reject(
        "balance.drop_stragglers requires data-parallel replicas of one rank each; set "
        "balance.drop_stragglers=0");
  }
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
                                             const std::vector<Stretch>& stretches,
                                             const Strategies& strategies) {
  ScheduledSync::Options scheduled{.parameters = options.parameters,
                                   .states = options.optimizer->state_names(),
                                   .group = options.group,
                                   .is_elastic = options.is_elastic,
                                   .faults = options.faults};
  for (const Stretch& stretch : stretches) {
    const Strategy& strategy = strategies.named(stretch.kind);
    SyncOptions own = options;
    own.stretches = {stretch};
    own.pace = stretch.pace;
    // Unsupported settings are refused now, and not when their step comes.
    check(strategy, own, strategies);
    scheduled.parts.push_back(
        {.begin = stretch.begin,
         .make = [strategy, stretch, own] { return strategy.make(stretch.settings, own); },
         .has_replicas = strategy.has_replicas(own)});
  }
  return std::make_shared<ScheduledSync>(std::move(scheduled));
}

}  // namespace

std::shared_ptr<GradientSync> make_gradient_sync(SyncOptions options,
                                                 const Strategies& strategies) {
  const int ranks = options.commit_group.value_or(options.group).size();
  TRIREME_CHECK_EQ(ranks, options.group.size() * options.replica_group.size(),
                   "ranks that commit steps");
  const bool is_alone = ranks == 1;
  if (is_alone && !options.is_elastic) return make_single_rank(options);
  expect_on_cpu(options.parameters);
  const std::vector<Stretch> stretches = expanded(options, strategies);
  if (stretches.size() > 1) return make_scheduled(options, stretches, strategies);
  const Strategy& strategy = strategies.named(stretches.at(0).kind);
  options.pace = stretches[0].pace;
  check(strategy, options, strategies);
  return strategy.make(stretches[0].settings, std::move(options));
}

}  // namespace trireme::parallel
