// Makes the synchronization strategy that a recipe names.

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/codec/kinds.h"
#include "trireme/mesh/mesh.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/elastic_data_parallel.h"
#include "trireme/parallel/independent_replicas.h"
#include "trireme/parallel/kinds.h"
#include "trireme/parallel/local/delayed.h"
#include "trireme/parallel/local/rounds.h"
#include "trireme/parallel/scheduled_sync.h"
#include "trireme/parallel/single_rank.h"
#include "trireme/parallel/strategies.h"

namespace trireme::parallel {
namespace {

// Whether ranks do not apply the same update in every step.
bool is_not_every_step(SyncKind kind) {
  const Capabilities& can = strategy_of(kind).can;
  return !can.commits_every_step && kind != SyncKind::None;
}

bool has_codec(const SyncOptions& options) {
  return options.own_codec || options.codec.kind != codec::CodecKind::None;
}

bool is_one_host(const SyncOptions& options) {
  if (options.is_elastic) return !options.is_spread;
  const std::vector<int> hosts = options.group.hosts();
  return std::adjacent_find(hosts.begin(), hosts.end(), std::not_equal_to<>()) == hosts.end();
}

// Whether the codec needs whole parameters, for example their rows and columns.
bool needs_whole_parameters(const SyncOptions& options) {
  return options.own_codec || options.codec.kind == codec::CodecKind::PowerSgd;
}

std::shared_ptr<const codec::Codec> codec_of(const SyncOptions& options) {
  return options.own_codec ? options.own_codec : codec::make_codec(options.codec);
}

// Throws InvalidInput if the codec cannot be used here.
void check_codec(const SyncOptions& options) {
  if (!has_codec(options)) return;
  const std::string named =
      "sync.codec.kind = \"" + std::string(codec::name_of(options.codec.kind)) + "\" ";
  if (options.own_codec && options.codec.kind != codec::CodecKind::None) {
    throw Error(ErrorCode::InvalidInput,
                named + "cannot be combined with a codec of the program; use one of them");
  }
  const std::string setting = options.own_codec ? "the program's codec " : named;
  if (strategy_of(options.kind).can.has_shards && is_one_host(options)) {
    throw Error(ErrorCode::InvalidInput,
                setting +
                    "has nothing to encode, because all ranks share memory; use "
                    "sync.kind=all_reduce, a local-update method, or sync.codec.kind=none");
  }
  for (const Parameter& parameter : options.parameters) {
    if (parameter.tensor.scalar_type() == at::kFloat) continue;
    throw Error(ErrorCode::InvalidInput,
                setting + "encodes float32, but " + parameter.name +
                    " has another type; convert the model, or use sync.codec.kind=none");
  }
}

// Throws InvalidInput if an overlapped or slack synchronization cannot survive the loss of a rank.
void check_elastic(const SyncOptions& options) {
  if (!options.is_elastic || !is_not_every_step(options.kind)) return;
  // A rank that leaves may have announced the size of its message and not sent it.
  const bool has_sizes = options.own_codec || options.codec.kind == codec::CodecKind::Threshold ||
                         options.codec.kind == codec::CodecKind::Zstd;
  if (options.pace.overlap > 0 && has_sizes) {
    throw Error(ErrorCode::InvalidInput,
                "sync.overlap is not supported in elastic jobs with codecs whose messages vary in "
                "size; use int8 or another codec, sync.overlap=0, or elastic.enabled=false");
  }
  if (options.pace.slack > 0) {
    throw Error(ErrorCode::InvalidInput,
                "sync.slack is not supported in elastic jobs, whose workers end a step together; "
                "use sync.slack=0 or elastic.enabled=false");
  }
}

// One shared copy where hosts allow it: it needs the least memory and traffic. `hosts` is empty if
// hosts have different numbers of ranks.
SyncKind resolved(SyncKind kind, const std::optional<mesh::Mesh>& hosts) {
  const bool has_one_rank = hosts && hosts->size("inside") == 1;
  if (kind == SyncKind::Auto) kind = hosts ? SyncKind::Shared : SyncKind::AllReduce;
  // The shared copy of a host with one rank is that rank's own.
  return kind == SyncKind::Shared && has_one_rank ? SyncKind::AllReduce : kind;
}

// Throws InvalidInput if the settings cannot be combined.
void check(const SyncOptions& options) {
  const Strategy& strategy = strategy_of(options.kind);
  check_needs(strategy, {.is_coded = has_codec(options),
                         .is_elastic = options.is_elastic,
                         .has_logical_ranks = options.is_ordered,
                         .drops_stragglers = options.can_leave_out});
  check_codec(options);
  check_elastic(options);
  if (!strategy.can.needs_equal_hosts || options.is_elastic) return;
  if (mesh::Mesh::of_hosts(options.group)) return;
  throw Error(ErrorCode::InvalidInput, std::string("sync.kind = \"") + strategy.name +
                                           "\" requires the same number of ranks on every host; "
                                           "use all_reduce, zero1 or local");
}

// Elastic jobs share memory wherever they can, because it outlives a rank.
SyncKind resolved_elastic(SyncKind kind) {
  return kind == SyncKind::Auto ? SyncKind::Shared : kind;
}

// Backward may still read a weight whose gradient is complete, if a forward pass used the weight
// without autograd's knowledge; blocks do not do that.
bool can_update_early(const SyncOptions& options) {
  return !options.is_recomputed && options.model && !options.model->blocks().empty();
}

std::shared_ptr<SingleRank> make_single_rank(SyncOptions& options,
                                             std::function<void()> progress = {}) {
  return std::make_shared<SingleRank>(
      SingleRank::Options{.parameters = std::move(options.parameters),
                          .optimizer = std::move(options.optimizer),
                          // A step that may be run again must not be applied yet.
                          .can_update_early = can_update_early(options) && !options.is_elastic,
                          .is_ordered = options.is_ordered,
                          .progress = std::move(progress)});
}

data::DataParallel::Options data_options(SyncOptions& options, SyncKind kind) {
  return {.parameters = std::move(options.parameters),
          .buffers = std::move(options.buffers),
          .optimizer = std::move(options.optimizer),
          .group = options.group,
          .model = std::move(options.model),
          .kind = kind,
          .bucket_size = options.bucket_size,
          .codec = codec_of(options),
          .codec_begin = options.codec.warmup,
          .has_error_feedback = options.codec.has_error_feedback,
          .has_whole_shards = kind != SyncKind::AllReduce && needs_whole_parameters(options),
          .seed = options.seed,
          .is_ordered = options.is_ordered,
          .is_in_parts = options.is_recomputed,
          .narrow_type = options.narrow_type,
          .can_leave_out = options.can_leave_out,
          .is_spread = options.is_spread,
          .keeps_gradients = options.keeps_gradients,
          .faults = options.faults};
}

std::shared_ptr<GradientSync> make_data_parallel(data::DataParallel::Options options,
                                                 bool is_elastic) {
  if (is_elastic) return std::make_shared<data::ElasticDataParallel>(std::move(options));
  return std::make_shared<data::DataParallel>(std::move(options));
}

// Ranks of a host synchronize in every step, without a codec.
std::shared_ptr<GradientSync> make_in_hosts(SyncOptions& options, const mesh::Mesh& hosts) {
  data::DataParallel::Options how = data_options(options, SyncKind::Shared);
  how.inside = hosts.group("inside");
  how.across = hosts.group("across");
  if (hosts.size("across") == 1) how.codec.reset();
  if (options.pace.crossing == local::Crossing::Weights) {
    how.group = hosts.group("inside");
    how.across = comm::Group::solo();
    how.codec.reset();
  }
  return std::make_shared<data::DataParallel>(std::move(how));
}

// The ranks of a host hold one replica together. REQUIRES: every host has the same number of ranks,
// and more than one.
Replica replica_of_host(SyncOptions& options, const mesh::Mesh& hosts) {
  const std::vector<int> host_of = options.group.hosts();
  std::vector<int> members;
  for (int rank = 0; rank < options.group.size(); ++rank) {
    const auto own = static_cast<std::size_t>(options.group.rank());
    if (host_of[static_cast<std::size_t>(rank)] == host_of[own]) members.push_back(rank);
  }
  std::vector<Parameter> parameters = options.parameters;
  return {.own = make_in_hosts(options, hosts),
          .parameters = std::move(parameters),
          .all = options.group,
          .across = hosts.group("across"),
          .inside = hosts.group("inside"),
          .members = std::move(members)};
}

// The same in an elastic job: hosts may have different numbers of ranks, and any may be lost.
Replica replica_of_changing_host(SyncOptions& options) {
  std::vector<Parameter> parameters = options.parameters;
  std::vector<std::string> states = options.optimizer->state_names();
  data::DataParallel::Options how = data_options(options, SyncKind::Shared);
  how.codec.reset();
  how.is_spread = false;
  const auto host = std::make_shared<data::ElasticDataParallel>(std::move(how));
  return {.own = host,
          .parameters = std::move(parameters),
          .all = options.group,
          .across = options.group,
          .members = {0},
          .states = std::move(states),
          .host = host};
}

local::Gathering gathering_of(const SyncOptions& options) {
  const local::Pace& pace = options.pace;
  const bool is_outer = pace.outer_lr != 1 || pace.outer_momentum != 0 || pace.is_streamed();
  switch (options.kind) {
    case SyncKind::Diloco:
      return local::Gathering::Outer;
    case SyncKind::Gossip:
      return local::Gathering::Pair;
    case SyncKind::Hierarchical:
      return is_outer ? local::Gathering::Outer : local::Gathering::Average;
    default:
      return local::Gathering::Average;
  }
}

Replica replica_of_rank(SyncOptions& options) {
  std::vector<Parameter> parameters = options.parameters;
  const comm::Group group = options.group;
  std::vector<std::string> states = options.optimizer->state_names();
  const auto progress = std::make_shared<std::function<void()>>();
  auto own = make_single_rank(options, [progress] {
    if (*progress) (*progress)();
  });
  Replica replica = Replica::alone(std::move(own), std::move(parameters), group);
  replica.progress = progress;
  replica.states = std::move(states);
  return replica;
}

// With `hosts`, every host holds a replica; otherwise every rank does.
std::shared_ptr<GradientSync> make_local_update(SyncOptions& options,
                                                const std::optional<mesh::Mesh>& hosts) {
  expect_one_type(options.parameters);
  local::FlatModel::Options flat{.bucket_size = options.bucket_size,
                                 .codec = codec_of(options),
                                 .codec_begin = options.codec.warmup,
                                 .has_error_feedback = options.codec.has_error_feedback,
                                 .seed = options.seed,
                                 .is_elastic = options.is_elastic};
  if (options.kind == SyncKind::Delayed) {
    flat.parameters = options.parameters;
    flat.group = options.group;
    return std::make_shared<local::Delayed>(
        local::Delayed::Options{.own = {.parameters = std::move(options.parameters),
                                        .optimizer = std::move(options.optimizer)},
                                .buffers = std::move(options.buffers),
                                .flat = std::move(flat),
                                .faults = options.faults});
  }
  const std::vector<at::Tensor> buffers = options.buffers;
  const bool is_led = options.kind == SyncKind::Hierarchical && options.is_elastic;
  Replica replica = is_led  ? replica_of_changing_host(options)
                    : hosts ? replica_of_host(options, *hosts)
                            : replica_of_rank(options);
  return std::make_shared<local::Rounds>(local::Rounds::Options{.replica = std::move(replica),
                                                                .buffers = buffers,
                                                                .flat = std::move(flat),
                                                                .gathering = gathering_of(options),
                                                                .pace = options.pace,
                                                                .is_elastic = options.is_elastic,
                                                                .faults = options.faults});
}

// On one host there is one shared copy, and nothing to synchronize across hosts.
std::shared_ptr<GradientSync> make_elastic_hierarchical(SyncOptions& options) {
  const bool is_of_weights = options.pace.crossing == local::Crossing::Weights;
  if (options.is_spread && is_of_weights) return make_local_update(options, std::nullopt);
  data::DataParallel::Options how = data_options(options, SyncKind::Shared);
  if (!how.is_spread) how.codec.reset();
  return std::make_shared<data::ElasticDataParallel>(std::move(how));
}

std::shared_ptr<GradientSync> make_hierarchical(SyncOptions& options) {
  if (options.is_elastic) return make_elastic_hierarchical(options);
  const std::optional<mesh::Mesh> hosts = mesh::Mesh::of_hosts(options.group);
  const bool is_of_weights = options.pace.crossing == local::Crossing::Weights;
  if (hosts->size("inside") == 1) {
    if (is_of_weights) return make_local_update(options, std::nullopt);
    return std::make_shared<data::DataParallel>(data_options(options, SyncKind::AllReduce));
  }
  if (hosts->size("across") == 1 || !is_of_weights) return make_in_hosts(options, *hosts);
  return make_local_update(options, hosts);
}

// One strategy, for a job of several ranks.
std::shared_ptr<GradientSync> make_one(SyncOptions options) {
  const bool is_elastic = options.is_elastic;
  if (options.kind == SyncKind::Hierarchical) return make_hierarchical(options);
  if (is_not_every_step(options.kind)) return make_local_update(options, std::nullopt);
  if (has_codec(options) && options.kind == SyncKind::Auto) options.kind = SyncKind::AllReduce;
  const std::optional<mesh::Mesh> hosts =
      is_elastic ? std::nullopt : mesh::Mesh::of_hosts(options.group);
  const SyncKind kind = is_elastic ? resolved_elastic(options.kind) : resolved(options.kind, hosts);
  if (kind == SyncKind::None) {
    std::vector<at::Tensor> buffers = std::move(options.buffers);
    return std::make_shared<IndependentReplicas>(replica_of_rank(options), std::move(buffers));
  }
  const bool is_sliced_in_host = options.is_sliced_in_host;
  data::DataParallel::Options how = data_options(options, kind);
  const bool is_sliced = kind != SyncKind::AllReduce && kind != SyncKind::Shared;
  const bool is_in_host = kind == SyncKind::Shared || (is_sliced && is_sliced_in_host);
  if (hosts && hosts->size("inside") > 1 && is_in_host) {
    how.inside = hosts->group("inside");
    how.across = hosts->group("across");
  }
  return make_data_parallel(std::move(how), is_elastic);
}

// Whether weights differ between ranks, or between hosts, between two synchronizations.
bool makes_replicas(const SyncOptions& options) {
  if (options.kind == SyncKind::None) return true;
  if (options.kind == SyncKind::Delayed || !is_not_every_step(options.kind)) return false;
  if (options.kind != SyncKind::Hierarchical) return true;
  return options.pace.crossing == local::Crossing::Weights && !is_one_host(options);
}

// A strategy that is replaced by others at given steps.
std::shared_ptr<GradientSync> make_scheduled(const SyncOptions& options,
                                             const std::vector<Stretch>& stretches) {
  const bool is_from_all_reduce =
      stretches.size() == 2 && stretches[0].kind == SyncKind::AllReduce &&
      is_not_every_step(stretches[1].kind) && stretches[1].kind != SyncKind::Hierarchical;
  if (options.is_elastic && !is_from_all_reduce) {
    throw Error(ErrorCode::InvalidInput,
                "an elastic job can change its strategy once, from all_reduce to local, diloco, "
                "gossip or delayed; use such a sync.schedule, or elastic.enabled=false");
  }
  ScheduledSync::Options scheduled{.parameters = options.parameters,
                                   .states = options.optimizer->state_names(),
                                   .group = options.group,
                                   .is_elastic = options.is_elastic};
  for (const Stretch& stretch : stretches) {
    SyncOptions own = options;
    own.kind = stretch.kind;
    own.pace = stretch.pace;
    // Unsupported settings are refused now, and not when their step comes.
    check(own);
    scheduled.parts.push_back({.begin = stretch.begin,
                               .make = [own] { return make_one(own); },
                               .has_replicas = makes_replicas(own)});
  }
  return std::make_shared<ScheduledSync>(std::move(scheduled));
}

}  // namespace

std::shared_ptr<GradientSync> make_gradient_sync(SyncOptions options) {
  if (options.group.size() == 1 && !options.is_elastic) return make_single_rank(options);
  std::vector<Stretch> stretches{{.kind = options.kind, .pace = options.pace}};
  stretches.insert(stretches.end(), options.later.begin(), options.later.end());
  stretches = without_post_local(std::move(stretches));
  for (Stretch& stretch : stretches) {
    const bool is_open = options.can_leave_out && stretch.kind == SyncKind::Auto;
    if (is_open) stretch.kind = SyncKind::AllReduce;
  }
  if (stretches.size() > 1) return make_scheduled(options, stretches);
  options.kind = stretches[0].kind;
  options.pace = stretches[0].pace;
  check(options);
  return make_one(std::move(options));
}

}  // namespace trireme::parallel
