#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {

void add_diloco(Strategies& all) {
  using local::DilocoConfig;
  all.add<DilocoConfig>(
      {.name = "diloco",
       .help = "DiLoCo: every few steps, an outer optimizer with momentum updates all replicas",
       .can = {.has_codec = true, .is_elastic = true, .has_replicas = true, .can_follow = true},
       .make = [](const DilocoConfig&, SyncOptions options) {
         return make_rounds(options, local::CombineRule::Outer);
       }});
}

}  // namespace trireme::parallel
