#include "trireme/parallel/strategies.h"

namespace trireme::parallel {

void add_post_local(Strategies& all) {
  using local::PostLocalConfig;
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
