#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

struct LocalConfig : local::RoundSettings {
  static void describe(config::Fields<LocalConfig>& f) {
    f.add("steps", &LocalConfig::steps)
        .at_least(1)
        .help("steps that each rank runs by itself before weights are averaged");
    local::add_slack_field(f);
    local::add_round_fields(f);
  }
};

}  // namespace

void add_local(Strategies& all) {
  all.add<LocalConfig>(
      {.name = "local",
       .help = "Local SGD: replicas are averaged every few steps",
       .can = {.has_codec = true, .is_elastic = true, .has_replicas = true, .can_follow = true},
       .make = [](const LocalConfig&, SyncOptions options) {
         return make_rounds(options, local::CombineRule::Average);
       }});
}

}  // namespace trireme::parallel
