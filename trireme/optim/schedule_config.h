// The settings of [schedule]: how the learning rate changes while a job runs.

#pragma once

#include <cstdint>

#include "trireme/base/config/fields.h"

namespace trireme::optim {

// What every schedule has.
struct WarmUpConfig {
  std::int64_t warmup_steps = 0;

  static void describe(config::Fields<WarmUpConfig>& f) {
    f.add("warmup_steps", &WarmUpConfig::warmup_steps)
        .at_least(0)
        .unit("steps")
        .help("the rate climbs from near zero over the first steps");
  }
};

struct ConstantScheduleConfig {
  static void describe(config::Fields<ConstantScheduleConfig>&) {}
};

struct StepScheduleConfig {
  std::int64_t every = 1000;
  double factor = 0.1;

  static void describe(config::Fields<StepScheduleConfig>& f) {
    f.add("every", &StepScheduleConfig::every)
        .at_least(1)
        .unit("steps")
        .help("steps between two drops");
    f.add("factor", &StepScheduleConfig::factor)
        .range(0.0, 1.0)
        .help("what the rate is multiplied by at each");
  }
};

struct LinearScheduleConfig {
  double final_factor = 0;

  static void describe(config::Fields<LinearScheduleConfig>& f) {
    f.add("final_factor", &LinearScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("share of the rate that is left at the job's end");
  }
};

struct CosineScheduleConfig {
  double final_factor = 0;

  static void describe(config::Fields<CosineScheduleConfig>& f) {
    f.add("final_factor", &CosineScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("share of the rate that is left at the job's end");
  }
};

}  // namespace trireme::optim
