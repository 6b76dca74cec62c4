// Makes the synchronization strategy that a recipe names.

#include <utility>

#include "trireme/base/error.h"
#include "trireme/codec/kinds.h"
#include "trireme/mesh/mesh.h"
#include "trireme/parallel/kinds.h"
#include "trireme/parallel/scheduled_sync.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

// Throws InvalidInput if the codec cannot be used here.
void check_codec(const Strategy& strategy, const SyncOptions& options) {
  if (!options.has_codec()) return;
  const std::string named =
      "sync.codec.kind = \"" + std::string(codec::name_of(options.codec.kind)) + "\" ";
  if (options.own_codec && options.codec.kind != codec::CodecKind::None) {
    reject(named + "cannot be combined with a codec of the program; use one of them");
  }
  const std::string setting = options.own_codec ? "the program's codec " : named;
  if (strategy.can.has_shards && is_one_host(options)) {
    reject(setting +
           "has nothing to encode, because all ranks share memory; use "
           "sync.kind=all_reduce, a local-update method, or sync.codec.kind=none");
  }
  for (const Parameter& parameter : options.parameters) {
    if (parameter.tensor.scalar_type() == at::kFloat) continue;
    reject(setting + "encodes float32, but " + parameter.name +
           " has another type; convert the model, or use sync.codec.kind=none");
  }
}

// Throws InvalidInput if an overlapped or slack synchronization cannot survive the loss of a rank.
void check_pace(const local::Pace& pace, const SyncOptions& options) {
  if (!options.is_elastic) return;
  // A rank that leaves may have announced the size of its message and not sent it.
  const bool has_sizes = options.own_codec || options.codec.kind == codec::CodecKind::Threshold ||
                         options.codec.kind == codec::CodecKind::Zstd;
  if (pace.overlap > 0 && has_sizes) {
    reject(
        "sync.overlap is not supported in elastic jobs with codecs whose messages vary in size; "
        "use int8 or another codec, sync.overlap=0, or elastic.enabled=false");
  }
  if (pace.slack > 0) {
    reject(
        "sync.slack is not supported in elastic jobs, whose workers end a step together; use "
        "sync.slack=0 or elastic.enabled=false");
  }
}

// Throws InvalidInput if the settings cannot be combined.
void check(const Strategy& strategy, const Stretch& stretch, const SyncOptions& options,
           const Strategies& strategies) {
  const bool asks_hosts = strategy.can.needs_equal_hosts && !options.is_elastic;
  strategies.check(strategy,
                   {.is_coded = options.has_codec(),
                    .is_elastic = options.is_elastic,
                    .has_logical_ranks = options.is_ordered,
                    .drops_stragglers = options.can_leave_out,
                    .is_loss_scaled = options.is_loss_scaled,
                    .keeps_residuals = options.has_codec() && options.codec.has_error_feedback,
                    .has_unequal_hosts = asks_hosts && !mesh::Mesh::of_hosts(options.group),
                    .follows_elastic = options.is_elastic && stretch.begin > 0});
  check_codec(strategy, options);
  check_pace(stretch.pace, options);
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

std::shared_ptr<GradientSync> make_one(const Strategy& strategy, const Stretch& stretch,
                                       SyncOptions options) {
  options.pace = stretch.pace;
  return strategy.make(stretch.settings, std::move(options));
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
    // Unsupported settings are refused now, and not when their step comes.
    check(strategy, stretch, options, strategies);
    SyncOptions own = options;
    own.pace = stretch.pace;
    const bool has_replicas =
        strategy.has_replicas ? strategy.has_replicas(own) : strategy.can.has_replicas;
    scheduled.parts.push_back(
        {.begin = stretch.begin,
         .make = [strategy, stretch, own] { return make_one(strategy, stretch, own); },
         .has_replicas = has_replicas});
  }
  return std::make_shared<ScheduledSync>(std::move(scheduled));
}

}  // namespace

std::shared_ptr<GradientSync> make_gradient_sync(SyncOptions options,
                                                 const Strategies& strategies) {
  const bool is_alone = options.commit_group.value_or(options.group).size() == 1;
  if (is_alone && !options.is_elastic) return make_single_rank(options);
  const std::vector<Stretch> stretches = expanded(options, strategies);
  if (stretches.size() > 1) return make_scheduled(options, stretches, strategies);
  const Strategy& strategy = strategies.named(stretches.at(0).kind);
  check(strategy, stretches[0], options, strategies);
  return make_one(strategy, stretches[0], std::move(options));
}

}  // namespace trireme::parallel
