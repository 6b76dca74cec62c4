// ElasticConfig is [elastic]: jobs whose workers may die, leave and come while training goes on.
//
// Most of it is the launcher's to obey; heartbeat and min are the workers' own.

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
    f.add("enabled", &E::is_enabled).help("the job goes on when workers die, and takes in others");
    f.add("min", &E::least).range(1, 128).unit("workers").help("with fewer, the job waits");
    f.add("max", &E::most).range(1, 128).unit("workers").help("more are never taken in");
    f.add("heartbeat", &E::heartbeat)
        .at_least(std::chrono::milliseconds(0))
        .help("a worker silent for so long is killed and replaced; 0 s: never");
    f.add("stall_minimum", &E::stall_minimum)
        .at_least(std::chrono::milliseconds(0))
        .help(
            "a worker that others wait for and that makes no progress for so long is killed and "
            "replaced, also if it sends heartbeats; 0 s: never");
    f.add("stall_factor", &E::stall_factor)
        .at_least(1.0)
        .help("the same, in median step times of the other workers; the longer of the two counts");
    f.add("orphan_timeout", &E::orphan_timeout)
        .at_least(std::chrono::seconds(1))
        .help("how long workers go on when nobody watches the job");
    f.add("restarts", &E::restarts)
        .at_least(0)
        .help("workers replaced within ten minutes before the job ends");
    f.add("spread", &E::is_spread)
        .help("workers may be on several hosts; each host then holds all weights and state");
    f.add("keep_gradients", &E::keeps_gradients)
        .help(
            "after a death only the dead worker's slots are run again; false: all_reduce, zero2 "
            "and "
            "zero3 take less memory, and a step is run again as a whole");
  }
};

}  // namespace trireme::train
