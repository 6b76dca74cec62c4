#include "trireme/parallel/strategies.h"

namespace trireme::parallel {
namespace {

struct PostLocalConfig : local::RoundSettings {
  PostLocalConfig() : local::RoundSettings{.begin = 1000} {}

  static void describe(config::Fields<PostLocalConfig>& f) {
    f.add("begin", &PostLocalConfig::begin)
        .at_least(0)
        .unit("steps")
        .help("steps with an all-reduce of gradients, before ranks run by themselves");
    f.add("steps", &PostLocalConfig::steps)
        .at_least(1)
        .help("steps that each rank then runs by itself before weights are averaged");
    local::add_round_fields(f);
  }
};

}  // namespace

void add_post_local(Strategies& all) {
  all.add<PostLocalConfig>(
      {.name = "post_local",
       .help = "all_reduce at first, then local",
       .can = {.has_codec = true, .is_elastic = true, .has_replicas = true, .is_sequence = true},
       .expand = [](const Stretch& stretch, const SyncOptions&) {
         std::vector<Stretch> parts;
         if (stretch.pace.begin > 0) parts.push_back({.kind = "all_reduce"});
         parts.push_back({.begin = stretch.pace.begin, .kind = "local", .pace = stretch.pace});
         return parts;
       }});
}

}  // namespace trireme::parallel
