// The default of sync.kind: one copy of the model per host, shared by its ranks, if every host has
// the same number of ranks and more than one; otherwise all_reduce.

#include "trireme/mesh/mesh.h"
#include "trireme/parallel/strategies.h"

namespace trireme::parallel {
namespace {

const char* choice_for(const SyncOptions& options) {
  if (options.has_codec()) return "all_reduce";
  // Elastic jobs share memory wherever they can, because it outlives a rank.
  if (options.is_elastic) return "shared";
  const auto hosts = mesh::Mesh::of_hosts(options.group);
  return hosts && hosts->size("inside") > 1 ? "shared" : "all_reduce";
}

}  // namespace

void add_auto(Strategies& all) {
  all.add({.name = "auto",
           .help = "shared where ranks share hosts, else all_reduce",
           .can = {.has_codec = true,
                   .is_elastic = true,
                   .has_logical_ranks = true,
                   .can_drop_stragglers = true,
                   .commits_every_step = true,
                   .can_cut_replicas = true,
                   .can_run_stages = true},
           .expand =
               [](const Stretch& stretch, const SyncOptions& options) {
                 return std::vector<Stretch>{{.begin = stretch.begin, .kind = choice_for(options)}};
               },
           .is_default = true});
}

}  // namespace trireme::parallel
