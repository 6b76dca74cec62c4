#include "trireme/base/error.h"
#include "trireme/mesh/mesh.h"
#include "trireme/parallel/data/elastic_data_parallel.h"
#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

struct HierarchicalConfig : local::RoundSettings {
  static void describe(config::Fields<HierarchicalConfig>& f) {
    using T = HierarchicalConfig;
    f.add("across", &T::crossing)
        .names({{"weights", local::Crossing::Weights}, {"gradients", local::Crossing::Gradients}})
        .help(
            "what hosts send each other: weights at the end of every round, or gradients, encoded "
            "by the codec, in every step");
    f.add("steps", &T::steps)
        .at_least(1)
        .help("steps that each host runs before weights are averaged");
    local::add_outer_fields(f);
    f.require([](const T& c) {
      const bool is_lost = c.crossing == local::Crossing::Gradients &&
                           c != local::RoundSettings{.crossing = c.crossing};
      return is_lost ? std::string(
                           "across = \"gradients\" has no rounds; remove steps, outer_lr, "
                           "outer_momentum, fragments, overlap, slack and round, or use across = "
                           "\"weights\"")
                     : std::string();
    });
  }
};

bool is_of_weights(const SyncOptions& options) {
  return options.pace.crossing == local::Crossing::Weights;
}

local::CombineRule gathering_of(const local::RoundSettings& pace) {
  const bool is_outer = pace.outer_lr != 1 || pace.outer_momentum != 0 || pace.is_streamed();
  return is_outer ? local::CombineRule::Outer : local::CombineRule::Average;
}

// Ranks of a host synchronize in every step, without a codec.
std::shared_ptr<GradientSync> make_in_hosts(SyncOptions& options, const mesh::Mesh& hosts) {
  data::DataParallel::Options how = data_options(options, data::Sharding::State);
  how.placement = data::Placement::in_hosts(hosts);
  if (is_of_weights(options)) {
    how.placement = data::Placement::flat(hosts.group("inside"));
    how.commit_group.reset();  // the replica of a host commits its own sums
  }
  if (!how.placement.has_other_hosts()) how.coding.codec.reset();
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
          .commit_group = options.commit_group,
          .across = hosts.group("across"),
          .inside = hosts.group("inside"),
          .members = std::move(members)};
}

// The same in an elastic job: hosts may have different numbers of ranks, and any may be lost.
Replica replica_of_changing_host(SyncOptions& options) {
  std::vector<Parameter> parameters = options.parameters;
  std::vector<std::string> states = options.optimizer->state_names();
  data::DataParallel::Options how = data_options(options, data::Sharding::State);
  how.coding.codec.reset();
  how.composition.is_spread = false;
  const auto host = std::make_shared<data::ElasticDataParallel>(std::move(how));
  return {.own = host,
          .parameters = std::move(parameters),
          .all = options.group,
          .across = options.group,
          .members = {0},
          .states = std::move(states),
          .host = host};
}

// Rounds over the replicas of hosts.
template <class MakeReplica>
std::shared_ptr<GradientSync> make_host_rounds(SyncOptions& options, const MakeReplica& make) {
  local::FlatModel::Options flat = flat_options(options);
  const std::vector<at::Tensor> buffers = options.buffers;
  Replica replica = make(options);
  options.buffers = buffers;
  return make_rounds(options, std::move(flat), std::move(replica), gathering_of(options.pace));
}

// On one host there is one shared copy, and nothing to synchronize across hosts.
std::shared_ptr<GradientSync> make_elastic_hierarchical(SyncOptions& options) {
  if (options.is_spread && is_of_weights(options)) {
    return make_host_rounds(options, replica_of_changing_host);
  }
  data::DataParallel::Options how = data_options(options, data::Sharding::State);
  if (!options.is_spread) how.coding.codec.reset();
  return std::make_shared<data::ElasticDataParallel>(std::move(how));
}

std::shared_ptr<GradientSync> make_hierarchical(const HierarchicalConfig&, SyncOptions options) {
  if (options.is_elastic) return make_elastic_hierarchical(options);
  const mesh::Mesh hosts = mesh::Mesh::of_hosts(options.group).value();
  if (hosts.size("inside") > 1 && is_of_weights(options) && options.replica_group.size() > 1) {
    throw Error(ErrorCode::Unsupported,
                "sync.across = \"weights\" with several data-parallel replicas on a host requires "
                "replicas of one rank each; use sync.across=gradients");
  }
  if (hosts.size("inside") == 1) {
    if (is_of_weights(options)) return make_rounds(options, gathering_of(options.pace));
    return make_data_parallel(options, data::Sharding::None, /*is_in_host=*/false);
  }
  if (hosts.size("across") == 1 || !is_of_weights(options)) return make_in_hosts(options, hosts);
  return make_host_rounds(options, [&](SyncOptions& own) { return replica_of_host(own, hosts); });
}

}  // namespace

void add_hierarchical(Strategies& all) {
  all.add<HierarchicalConfig>(
      {.name = "hierarchical",
       .help = "every step within a host; across hosts less often, or gradients through a codec",
       .can =
           {.has_codec = true, .is_elastic = true, .has_replicas = true, .needs_equal_hosts = true},
       .make = make_hierarchical,
       .has_replicas = [](const SyncOptions& options) {
         return is_of_weights(options) && !is_one_host(options);
       }});
}

}  // namespace trireme::parallel
