#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {

void add_all_reduce(Strategies& all) {
  all.add({.name = "all_reduce",
           .help = "every rank holds the whole model, as in DDP",
           .can = {.has_codec = true,
                   .is_elastic = true,
                   .has_logical_ranks = true,
                   .can_drop_stragglers = true,
                   .commits_every_step = true,
                   .can_cut_replicas = true,
                   .can_run_stages = true},
           .make = [](const NoSettings&, SyncOptions options) {
             return make_data_parallel(options, data::Sharding::None, /*is_in_host=*/false);
           }});
}

}  // namespace trireme::parallel
