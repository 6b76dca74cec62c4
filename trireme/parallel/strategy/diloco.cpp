#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

struct DilocoConfig : local::RoundSettings {
  DilocoConfig() : local::RoundSettings{.steps = 50, .outer_lr = 0.7, .outer_momentum = 0.9} {}

  static void describe(config::Fields<DilocoConfig>& f) {
    f.add("steps", &DilocoConfig::steps)
        .at_least(1)
        .help("steps that each rank runs by itself before the outer step");
    local::add_outer_fields(f);
  }
};

}  // namespace

void add_diloco(Strategies& all) {
  all.add<DilocoConfig>(
      {.name = "diloco",
       .help = "DiLoCo: every few steps, an outer optimizer with momentum updates all replicas",
       .can = {.has_codec = true, .is_elastic = true, .has_replicas = true, .can_follow = true},
       .make = [](const DilocoConfig&, SyncOptions options) {
         return make_rounds(options, local::CombineRule::Outer);
       }});
}

}  // namespace trireme::parallel
