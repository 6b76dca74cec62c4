#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

struct GossipConfig : local::RoundSettings {
  GossipConfig() : local::RoundSettings{.steps = 1} {}

  static void describe(config::Fields<GossipConfig>& f) {
    f.add("steps", &GossipConfig::steps)
        .at_least(1)
        .help("steps that each rank runs by itself before it averages weights with another rank");
    f.add("overlap", &GossipConfig::overlap)
        .at_least(0)
        .unit("steps")
        .help("steps that run while the weights of a pair are in flight; at most `steps`");
    local::add_slack_field(f);
    f.require(local::complaint_of_fragments);
  }
};

}  // namespace

void add_gossip(Strategies& all) {
  all.add<GossipConfig>({.name = "gossip",
                         .help = "replicas are averaged in pairs that change",
                         .can = {.is_elastic = true, .has_replicas = true, .can_follow = true},
                         .make = [](const GossipConfig&, SyncOptions options) {
                           return make_rounds(options, local::CombineRule::Pair);
                         }});
}

}  // namespace trireme::parallel
