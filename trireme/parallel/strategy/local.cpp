#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {

void add_local(Strategies& all) {
  using local::LocalConfig;
  all.add<LocalConfig>(
      {.name = "local",
       .help = "Local SGD: replicas are averaged every few steps",
       .can = {.has_codec = true, .is_elastic = true, .has_replicas = true, .can_follow = true},
       .make = [](const LocalConfig&, SyncOptions options) {
         return make_rounds(options, local::CombineRule::Average);
       }});
}

}  // namespace trireme::parallel
