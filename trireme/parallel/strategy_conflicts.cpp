#include "trireme/parallel/strategy_conflicts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/codec/kinds.h"
#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

using config::Condition;
using config::Conflict;
using config::is;
using config::is_not;

constexpr const char* kKind = "sync.kind";
constexpr const char* kCodec = "sync.codec.kind";
constexpr const char* kElastic = "elastic.enabled";
constexpr const char* kTensor = "parallel.tensor";
constexpr const char* kPipe = "parallel.pipe";

// What no recipe states.
constexpr const char* kOneHost = "job.is_one_host";
constexpr const char* kUnequalHosts = "job.has_unequal_hosts";
constexpr const char* kReplicas = "job.has_replicas";
constexpr const char* kLargeReplicas = "job.has_replicas_of_several_ranks";
constexpr const char* kFollows = "job.is_later_strategy";
// Instead of sync.codec.kind: a codec of the program.
constexpr const char* kOwnCodec = "of the program";
constexpr const char* kOwnVaryingCodec = "of the program, with messages that vary in size";
constexpr const char* kTwoCodecs = "of the program and of the settings";

// Whether hosts have different numbers of ranks. Elastic jobs support that with every strategy.
bool has_unequal_hosts(const SyncOptions& options) {
  if (options.is_elastic) return false;
  std::map<int, int> ranks_on;
  for (const int host : options.group.hosts()) ++ranks_on[host];
  return std::any_of(ranks_on.begin(), ranks_on.end(),
                     [&](const auto& host) { return host.second != ranks_on.begin()->second; });
}

std::string codec_name(const SyncOptions& options) {
  if (!options.own_codec) return std::string(codec::name_of(options.codec.kind));
  if (options.codec.kind != codec::CodecKind::None) return kTwoCodecs;
  return options.own_codec->is_fixed_size() ? kOwnCodec : kOwnVaryingCodec;
}

// A codec that this build lacks is refused anyway.
bool varies_in_size(codec::CodecKind kind) {
  try {
    return !codec::make_codec({.kind = kind})->is_fixed_size();
  } catch (const Error&) {
    return false;
  }
}

config::List codecs_that_vary_in_size() {
  config::List all{{kOwnVaryingCodec}};
  for (const codec::CodecKind kind : codec::kCodecKinds) {
    if (varies_in_size(kind)) all.push_back({std::string(codec::name_of(kind))});
  }
  return all;
}

Need supported_with(bool Capabilities::* capability, std::vector<Condition> when,
                    const char* setting, const char* remedy, const char* column) {
  return {std::move(when), capability, true, setting, remedy, column};
}

Need supported_without(bool Capabilities::* capability, std::vector<Condition> when,
                       const char* setting, const char* remedy, const char* column) {
  return {std::move(when), capability, false, setting, remedy, column};
}

// The strategies that do not support it, and those that do not if their replicas differ.
void add_conflicts(const Need& need, const Strategies& strategies, std::vector<Conflict>& all) {
  config::List lacking, lacking_at_times;
  Conflict conflict{.conditions = need.when,
                    .why = std::string("does not support ") + need.setting,
                    .key = kKind,
                    .remedy = need.remedy};
  for (const auto& one : strategies.all()) {
    if (supports(*one, need)) {
      if (!one->is_default) conflict.alternatives.push_back(one->name);
    } else {
      const bool is_at_times =
          need.capability == &Capabilities::has_replicas && one->has_replicas_at_times;
      (is_at_times ? lacking_at_times : lacking).push_back({one->name});
    }
  }
  Conflict at_times = conflict;
  conflict.conditions.push_back(is(kKind, lacking));
  all.push_back(std::move(conflict));
  if (lacking_at_times.empty()) return;
  at_times.conditions.push_back(is(kKind, lacking_at_times));
  at_times.conditions.push_back(is(kReplicas, {{true}}));
  all.push_back(std::move(at_times));
}

}  // namespace

std::vector<Need> needs() {
  using C = Capabilities;
  const Condition is_coded = is_not(kCodec, {{"none"}});
  const Condition is_elastic = is(kElastic, {{true}});
  const config::List zero{{0}};
  return {
      supported_with(&C::has_codec, {is_coded}, "a codec (sync.codec)", "set sync.codec.kind=none",
                     "codec"),
      supported_without(&C::has_shards, {is_coded, is(kOneHost, {{true}})},
                        "a codec on one host, whose ranks share the memory of all shards",
                        "set sync.codec.kind=none", nullptr),
      supported_with(&C::is_elastic, {is_elastic}, "elastic jobs (--elastic)",
                     "set elastic.enabled=false", "elastic jobs"),
      supported_with(&C::has_logical_ranks, {is_not("train.logical_ranks", zero)},
                     "train.logical_ranks (bitwise equal results for every world size)",
                     "set train.logical_ranks=0", "`train.logical_ranks`"),
      supported_with(&C::can_drop_stragglers, {is_not("balance.drop_stragglers", zero)},
                     "balance.drop_stragglers", "set balance.drop_stragglers=0",
                     "`balance.drop_stragglers`"),
      supported_without(&C::has_replicas, {is_not("balance.kind", {{"off"}})},
                        "balance.kind (micro-batches that move between ranks)",
                        "set balance.kind=off", "`balance.kind`"),
      supported_without(&C::has_replicas, {is_not("train.fallback_steps", zero)},
                        "train.fallback_steps, which requires a loss that all ranks share",
                        "set train.fallback_steps=0", "`train.fallback_steps`"),
      supported_with(&C::can_cut_replicas, {is_not(kTensor, {{1}})},
                     "parallel.tensor (replicas that several ranks hold together)",
                     "set parallel.tensor=1", "`parallel.tensor`"),
      supported_with(&C::can_run_stages, {is_not(kPipe, {{1}})},
                     "parallel.pipe (stages that several micro-batches pass through)",
                     "set parallel.pipe=1", "`parallel.pipe`"),
      supported_without(&C::needs_unscaled_loss, {is("train.precision", {{"fp16"}})},
                        "train.precision = \"fp16\", whose loss scale changes between steps",
                        "set train.precision=bf16", "fp16"),
      supported_without(&C::needs_equal_hosts, {is(kUnequalHosts, {{true}})},
                        "hosts with different numbers of ranks",
                        "start the same number of ranks on every host", "unequal hosts"),
      supported_with(&C::can_shard_in_hosts, {is("sync.hybrid_shard", {{true}})},
                     "sync.hybrid_shard", "set sync.hybrid_shard=false", "`sync.hybrid_shard`"),
      supported_with(&C::can_follow, {is_elastic, is(kFollows, {{true}})},
                     "replacing another strategy of an elastic job (sync.schedule)",
                     "set elastic.enabled=false", "later in elastic schedules"),
  };
}

bool supports(const Strategy& strategy, const Need& need) {
  return strategy.can.*need.capability == need.is_required;
}

std::vector<Conflict> contradictions(const Strategies& strategies) {
  const Condition is_coded = is_not(kCodec, {{"none"}});
  const Condition is_ordered = is_not("train.logical_ranks", {{0}});
  const Condition is_elastic = is(kElastic, {{true}});
  const Condition is_scaled = is("train.precision", {{"fp16"}});
  const Condition has_residuals = is("sync.codec.error_feedback", {{true}});
  const char* const scaled_residuals =
      "the loss scale of train.precision = \"fp16\" changes between steps, and "
      "sync.codec.error_feedback keeps scaled residuals of gradients from step to step; use "
      "train.precision=bf16 or sync.codec.error_feedback=false";
  // The ranks of a replica would have to give up the same pass.
  const char* const lone_stragglers =
      "balance.drop_stragglers requires data-parallel replicas of one rank each; set "
      "balance.drop_stragglers=0";
  const Condition drops = is_not("balance.drop_stragglers", {{0}});
  config::List of_gradients;  // what replicas send each other are weights
  for (const auto& one : strategies.all()) {
    if (!one->can.has_replicas) of_gradients.push_back({one->name});
  }
  return {
      {{is_coded, is_ordered},
       "lossy codecs are not bitwise reproducible across world sizes, so sync.codec cannot be "
       "combined with train.logical_ranks; remove one of them"},
      {{drops, is_ordered},
       "balance.drop_stragglers leaves out micro-batches that train.logical_ranks has to sum; "
       "remove one of them"},
      {{drops, is_not(kTensor, {{1}})}, lone_stragglers},
      {{drops, is_not(kPipe, {{1}})}, lone_stragglers},
      {{drops, is(kLargeReplicas, {{true}})}, lone_stragglers},
      {{is_elastic, is_not(kTensor, {{1}})},
       "parallel.tensor is not supported in elastic jobs; start the job without --elastic"},
      {{is_elastic, is_not(kPipe, {{1}})},
       "parallel.pipe is not supported in elastic jobs; start the job without --elastic"},
      {{is_not("balance.kind", {{"off"}}), is_not(kPipe, {{1}})},
       "balance.kind is not supported with parallel.pipe, whose stages have the speed of the "
       "slowest; set balance.kind=off"},
      // Gradients of several stages of a rank arrive in the order of their passes.
      {{is_ordered, is_not(kPipe, {{1}}), is("parallel.schedule", {{"interleaved_1f1b"}})},
       "train.logical_ranks is not supported with parallel.schedule = \"interleaved_1f1b\"; use "
       "1f1b, or set train.logical_ranks=0"},
      // The ranks of a replica would round the weights that all of them have differently.
      {{is_coded, is_not(kTensor, {{1}})},
       "sync.codec is not supported with parallel.tensor; set sync.codec.kind=none or "
       "parallel.tensor=1"},
      {{is_coded, is_not(kPipe, {{1}})},
       "sync.codec is not supported with parallel.pipe; set sync.codec.kind=none or "
       "parallel.pipe=1"},
      {{is_scaled, is_coded, has_residuals, is(kKind, of_gradients)}, scaled_residuals},
      {{is_scaled, is_coded, has_residuals, is("sync.across", {{"gradients"}})}, scaled_residuals},
      {{is(kCodec, {{kTwoCodecs}})},
       "sync.codec.kind cannot be combined with a codec of the program; use one of them"},
      {{is("sync.hybrid_shard", {{true}}), is(kUnequalHosts, {{true}})},
       "sync.hybrid_shard requires the same number of ranks on every host; start that many, or "
       "use sync.hybrid_shard=false"},
      // A rank that leaves may have announced the size of its message and not sent it.
      {{is_elastic, is_not("sync.overlap", {{0}}), is(kCodec, codecs_that_vary_in_size())},
       "sync.overlap is not supported in elastic jobs with codecs whose messages vary in size; "
       "use int8 or another codec, sync.overlap=0, or elastic.enabled=false"},
      {{is_elastic, is_not("sync.slack", {{0}})},
       "sync.slack is not supported in elastic jobs, whose workers end a step together; use "
       "sync.slack=0 or elastic.enabled=false"},
  };
}

std::vector<Conflict> conflicts_of(const Strategies& strategies) {
  std::vector<Conflict> all = contradictions(strategies);
  for (const Need& need : needs()) add_conflicts(need, strategies, all);
  return all;
}

config::KeyedValues facts_of(const Strategy& strategy, const SyncOptions& options) {
  const bool is_of_gradients = options.pace.crossing == local::Crossing::Gradients;
  return {{kKind, {strategy.name}},
          {kCodec, {codec_name(options)}},
          {"sync.codec.error_feedback", {options.codec.has_error_feedback}},
          {"sync.hybrid_shard", {options.is_sliced_in_host}},
          {"sync.across", {is_of_gradients ? "gradients" : "weights"}},
          {"sync.overlap", {options.pace.overlap}},
          {"sync.slack", {options.pace.slack}},
          {kElastic, {options.is_elastic}},
          {"train.logical_ranks", {std::int64_t{options.is_ordered}}},
          {"train.precision", {options.is_loss_scaled ? "fp16" : "fp32"}},
          {"balance.drop_stragglers", {std::int64_t{options.can_leave_out}}},
          {kOneHost, {is_one_host(options)}},
          {kUnequalHosts, {has_unequal_hosts(options)}},
          {kReplicas, {strategy.has_replicas(options)}},
          {kLargeReplicas, {options.replica_group.size() > 1}},
          {kFollows, {options.stretches.front().begin > 0}}};
}

}  // namespace trireme::parallel
