#include "trireme/parallel/strategy_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trireme/codec/kinds.h"
#include "trireme/mesh/mesh.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/elastic_data_parallel.h"

namespace trireme::parallel {
namespace {

// Whether the codec needs whole parameters, for example their rows and columns.
bool needs_whole_parameters(const SyncOptions& options) {
  return options.own_codec || options.codec.kind == codec::CodecKind::PowerSgd;
}

// Backward may still read a weight whose gradient is complete, if a forward pass used the weight
// without autograd's knowledge; blocks do not do that. The loss must be read before such an update,
// which would make every step wait for a GPU.
bool can_update_early(const SyncOptions& options) {
  return !options.is_recomputed && options.model && !options.model->blocks().empty() &&
         model::device_of(*options.model).is_cpu();
}

}  // namespace

bool is_one_host(const SyncOptions& options) {
  if (options.is_elastic) return !options.is_spread;
  const std::vector<int> hosts = options.group.hosts();
  return std::adjacent_find(hosts.begin(), hosts.end(), std::not_equal_to<>()) == hosts.end();
}

std::shared_ptr<const codec::Codec> codec_of(const SyncOptions& options) {
  return options.own_codec ? options.own_codec : codec::make_codec(options.codec);
}

std::shared_ptr<SingleRank> make_single_rank(SyncOptions& options, std::function<void()> progress) {
  return std::make_shared<SingleRank>(
      SingleRank::Options{.parameters = std::move(options.parameters),
                          .optimizer = std::move(options.optimizer),
                          .replica_group = options.replica_group,
                          // An elastic job may run a step again, so backward must not update yet.
                          .can_update_early = can_update_early(options) && !options.is_elastic,
                          .is_ordered = options.is_ordered,
                          .narrow_type = options.narrow_type,
                          .progress = std::move(progress)});
}

data::DataParallel::Options data_options(SyncOptions& options, data::Sharding sharding) {
  const bool is_sharded = sharding != data::Sharding::None;
  return {.parameters = std::move(options.parameters),
          .buffers = std::move(options.buffers),
          .optimizer = std::move(options.optimizer),
          .commit_group = options.commit_group,
          .flags = options.flags,
          .model = std::move(options.model),
          .composition = {.sharding = sharding,
                          .is_ordered = options.is_ordered,
                          .is_in_parts = options.is_recomputed,
                          .can_leave_out = options.can_leave_out,
                          .can_drop = options.can_drop,
                          .is_elastic = options.is_elastic,
                          .is_spread = options.is_spread,
                          .keeps_gradients = options.keeps_gradients},
          .placement = data::Placement::flat(options.group),
          .coding = {.codec = codec_of(options),
                     .begin = options.codec.warmup,
                     .has_error_feedback = options.codec.has_error_feedback,
                     .seed = options.seed},
          .bucket_size = options.bucket_size,
          .has_whole_shards = is_sharded && needs_whole_parameters(options),
          .narrow_type = options.narrow_type,
          .faults = options.faults};
}

std::shared_ptr<GradientSync> make_data_parallel(SyncOptions& options, data::Sharding sharding,
                                                 bool is_in_host) {
  data::DataParallel::Options how = data_options(options, sharding);
  if (options.is_elastic) return std::make_shared<data::ElasticDataParallel>(std::move(how));
  const std::optional<mesh::Mesh> hosts =
      is_in_host ? mesh::Mesh::of_hosts(options.group) : std::nullopt;
  if (hosts && hosts->size("inside") > 1) how.placement = data::Placement::in_hosts(*hosts);
  return std::make_shared<data::DataParallel>(std::move(how));
}

Replica replica_of_rank(SyncOptions& options) {
  std::vector<Parameter> parameters = options.parameters;
  std::vector<std::string> states = options.optimizer->state_names();
  const auto progress = std::make_shared<std::function<void()>>();
  auto own = make_single_rank(options, [progress] {
    if (*progress) (*progress)();
  });
  Replica replica = Replica::alone(std::move(own), std::move(parameters), options.group);
  replica.commit_group = options.commit_group;
  replica.inside = options.replica_group;
  replica.progress = progress;
  replica.states = std::move(states);
  return replica;
}

local::FlatModel::Options flat_options(const SyncOptions& options) {
  expect_one_type(options.parameters);
  return {.bucket_size = options.bucket_size,
          .codec = codec_of(options),
          .codec_begin = options.codec.warmup,
          .has_error_feedback = options.codec.has_error_feedback,
          .seed = options.seed,
          .is_elastic = options.is_elastic};
}

std::shared_ptr<GradientSync> make_rounds(const SyncOptions& options,
                                          local::FlatModel::Options flat, Replica replica,
                                          local::CombineRule gathering) {
  return std::make_shared<local::Rounds>(local::Rounds::Options{.replica = std::move(replica),
                                                                .buffers = options.buffers,
                                                                .flat = std::move(flat),
                                                                .gathering = gathering,
                                                                .pace = options.pace,
                                                                .is_elastic = options.is_elastic,
                                                                .faults = options.faults});
}

std::shared_ptr<GradientSync> make_rounds(SyncOptions& options, local::CombineRule gathering) {
  local::FlatModel::Options flat = flat_options(options);
  Replica replica = replica_of_rank(options);
  return make_rounds(options, std::move(flat), std::move(replica), gathering);
}

}  // namespace trireme::parallel
