// The settings of [schedule]: how the learning rate changes while a job runs.

#pragma once

#include <cstdint>

#include "trireme/base/config/fields.h"

namespace trireme::optim {

// The settings of every schedule.
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

struct ExponentialScheduleConfig {
  double factor = 0.999;

  static void describe(config::Fields<ExponentialScheduleConfig>& f) {
    f.add("factor", &ExponentialScheduleConfig::factor)
        .range(0.0, 1.0)
        .help("what the rate is multiplied by at each step");
  }
};

struct PolynomialScheduleConfig {
  double power = 1;
  double final_factor = 0;

  static void describe(config::Fields<PolynomialScheduleConfig>& f) {
    f.add("power", &PolynomialScheduleConfig::power)
        .range(0.0, 100.0)
        .help("of the share of steps that are left");
    f.add("final_factor", &PolynomialScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("share of the rate that is left at the job's end");
  }
};

struct InverseSqrtScheduleConfig {
  static void describe(config::Fields<InverseSqrtScheduleConfig>&) {}
};

struct OneCycleScheduleConfig {
  double rise_share = 0.3;
  double first_factor = 0.04;
  double final_factor = 4e-6;

  static void describe(config::Fields<OneCycleScheduleConfig>& f) {
    f.add("rise_share", &OneCycleScheduleConfig::rise_share)
        .range(0.0, 1.0)
        .help("of the steps, until the full rate");
    f.add("first_factor", &OneCycleScheduleConfig::first_factor)
        .range(0.0, 1.0)
        .help("share of the rate that it begins with");
    f.add("final_factor", &OneCycleScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("share of the rate that is left at the job's end");
  }
};

struct WarmRestartsScheduleConfig {
  std::int64_t every = 1000;
  std::int64_t growth = 1;
  double final_factor = 0;

  static void describe(config::Fields<WarmRestartsScheduleConfig>& f) {
    f.add("every", &WarmRestartsScheduleConfig::every)
        .at_least(1)
        .unit("steps")
        .help("of the first round");
    f.add("growth", &WarmRestartsScheduleConfig::growth)
        .range(1, 1000)
        .help("how many times as long a round is as the one before it");
    f.add("final_factor", &WarmRestartsScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("share of the rate that is left at a round's end");
  }
};

struct PlateauScheduleConfig {
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;
  std::int64_t cooldown = 0;
  double final_factor = 0;

  static void describe(config::Fields<PlateauScheduleConfig>& f) {
    f.add("factor", &PlateauScheduleConfig::factor)
        .range(0.0, 1.0)
        .help("what the rate is multiplied by at each drop");
    f.add("patience", &PlateauScheduleConfig::patience)
        .at_least(0)
        .unit("evaluations")
        .help("without a better eval.metric before the rate drops");
    f.add("threshold", &PlateauScheduleConfig::threshold)
        .range(0.0, 1.0)
        .help("share by which a metric must be better to count as such");
    f.add("cooldown", &PlateauScheduleConfig::cooldown)
        .at_least(0)
        .unit("evaluations")
        .help("after a drop in which nothing counts as bad");
    f.add("final_factor", &PlateauScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("share of the rate below which it never drops");
  }
};

}  // namespace trireme::optim
