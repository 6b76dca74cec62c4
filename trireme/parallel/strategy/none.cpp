#include "trireme/parallel/independent_replicas.h"
#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {

void add_none(Strategies& all) {
  all.add({.name = "none",
           .help = "ranks train on their own and are averaged once, at the end",
           .can = {.has_replicas = true},
           .make = [](const NoSettings&, SyncOptions options) {
             return std::make_shared<IndependentReplicas>(replica_of_rank(options),
                                                          std::move(options.buffers));
           }});
}

}  // namespace trireme::parallel
