// ElasticConfig has the settings of [elastic]: jobs whose workers may die, leave and join while
// training continues.
//
// The launcher uses most of the settings; workers use heartbeat and min.

#pragma once

#include <chrono>

#include "trireme/base/config/fields.h"

namespace trireme::train {

inline constexpr const char* kElasticSection = "elastic";

struct ElasticConfig {
  bool is_enabled = false;
  int least = 1;
  int most = 128;
  std::chrono::milliseconds heartbeat{5000};
  std::chrono::milliseconds stall_minimum{10'000};
  double stall_factor = 10;
  std::chrono::seconds orphan_timeout{60};
  int restarts = 10;
  bool is_spread = false;
  bool keeps_gradients = true;

  static void describe(config::Fields<ElasticConfig>& f) {
    using E = ElasticConfig;
    f.add("enabled", &E::is_enabled).help("continue when workers die, and let new workers join");
    f.add("min_workers", &E::least)
        .synonyms({"min", "min_nodes"})
        .range(1, 128)
        .unit("workers")
        .help("the job waits while it has fewer");
    f.add("max_workers", &E::most)
        .synonyms({"max", "max_nodes"})
        .range(1, 128)
        .unit("workers")
        .help("the job never has more");
    f.add("heartbeat", &E::heartbeat)
        .at_least(std::chrono::milliseconds(0))
        .help("a worker that sends no heartbeat for this long is killed and replaced; 0 s: never");
    f.add("stall_minimum", &E::stall_minimum)
        .at_least(std::chrono::milliseconds(0))
        .help(
            "a worker that others wait for and that makes no progress for this long is killed and "
            "replaced, also if it sends heartbeats; 0 s: never");
    f.add("stall_factor", &E::stall_factor)
        .at_least(1.0)
        .help("the same, in median step times of the other workers; the longer of the two counts");
    f.add("orphan_timeout", &E::orphan_timeout)
        .at_least(std::chrono::seconds(1))
        .help("how long workers continue after the launcher has died");
    f.add("max_restarts", &E::restarts)
        .synonyms({"restarts"})
        .at_least(0)
        .help("maximum number of workers replaced within ten minutes; after more, the job ends");
    f.add("spread", &E::is_spread)
        .help("workers may be on several hosts; each host then holds all weights and state");
    f.add("keep_gradients", &E::keeps_gradients)
        .help(
            "after a failure only the dead worker's micro-batches are run again; false: "
            "all_reduce, zero2 and zero3 use less memory, and the whole step is run again");
  }
};

}  // namespace trireme::train
