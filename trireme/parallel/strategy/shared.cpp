#include "trireme/mesh/mesh.h"
#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {

void add_shared(Strategies& all) {
  all.add({.name = "shared",
           .help = "one copy of weights and optimizer state per host; each rank updates a shard",
           .can = {.has_codec = true,
                   .is_elastic = true,
                   .has_logical_ranks = true,
                   .can_drop_stragglers = true,
                   .commits_every_step = true,
                   .can_cut_replicas = true,
                   .can_run_stages = true,
                   .has_shards = true,
                   .needs_equal_hosts = true},
           .make = [](const NoSettings&, SyncOptions options) {
             // With one rank per host nothing is shared: the rank holds all weights and state.
             const bool is_alone = !options.is_elastic &&
                                   mesh::Mesh::of_hosts(options.group).value().size("inside") == 1;
             const auto sharding = is_alone ? data::Sharding::None : data::Sharding::State;
             return make_data_parallel(options, sharding, /*is_in_host=*/true);
           }});
}

}  // namespace trireme::parallel
