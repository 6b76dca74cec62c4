#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {

void add_gossip(Strategies& all) {
  using local::GossipConfig;
  all.add<GossipConfig>({.name = "gossip",
                         .help = "replicas are averaged in pairs that change",
                         .can = {.is_elastic = true, .has_replicas = true, .can_follow = true},
                         .make = [](const GossipConfig&, SyncOptions options) {
                           return make_rounds(options, local::CombineRule::Pair);
                         }});
}

}  // namespace trireme::parallel
