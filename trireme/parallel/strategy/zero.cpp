#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

void add_sharded(Strategies& all, const char* name, const char* help, data::Sharding sharding) {
  all.add({.name = name,
           .help = help,
           .can = {.has_codec = true,
                   .is_elastic = true,
                   .has_logical_ranks = true,
                   // The gathers of a block's weights need all ranks.
                   .can_drop_stragglers = sharding != data::Sharding::Weights,
                   .commits_every_step = true,
                   .can_cut_replicas = true,
                   // Weights of a block are gathered for one forward and one backward pass.
                   .can_run_stages = sharding != data::Sharding::Weights,
                   .has_shards = true,
                   .can_shard_in_hosts = true},
           .make = [sharding](const NoSettings&, SyncOptions options) {
             return make_data_parallel(options, sharding, options.is_sliced_in_host);
           }});
}

}  // namespace

void add_zero(Strategies& all) {
  using data::Sharding;
  add_sharded(all, "zero1", "optimizer state is sharded over ranks", Sharding::State);
  add_sharded(all, "zero2", "optimizer state and gradients are sharded", Sharding::Gradients);
  add_sharded(
      all, "zero3",
      "optimizer state, gradients and weights are sharded, as in FSDP; a block's weights are "
      "gathered while it runs",
      Sharding::Weights);
}

}  // namespace trireme::parallel
