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
        .help("steps of linear warm-up from near zero");
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
        .help("steps between two reductions");
    f.add("factor", &StepScheduleConfig::factor)
        .range(0.0, 1.0)
        .help("factor of the learning rate at each reduction");
  }
};

struct LinearScheduleConfig {
  double final_factor = 0;

  static void describe(config::Fields<LinearScheduleConfig>& f) {
    f.add("final_factor", &LinearScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of the job, relative to the base learning rate");
  }
};

struct CosineScheduleConfig {
  double final_factor = 0;

  static void describe(config::Fields<CosineScheduleConfig>& f) {
    f.add("final_factor", &CosineScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of the job, relative to the base learning rate");
  }
};

struct ExponentialScheduleConfig {
  double factor = 0.999;

  static void describe(config::Fields<ExponentialScheduleConfig>& f) {
    f.add("factor", &ExponentialScheduleConfig::factor)
        .range(0.0, 1.0)
        .help("factor of the learning rate at each step");
  }
};

struct PolynomialScheduleConfig {
  double power = 1;
  double final_factor = 0;

  static void describe(config::Fields<PolynomialScheduleConfig>& f) {
    f.add("power", &PolynomialScheduleConfig::power)
        .range(0.0, 100.0)
        .help("power of the fraction of remaining steps");
    f.add("final_factor", &PolynomialScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of the job, relative to the base learning rate");
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
        .help("fraction of the steps until the learning rate is highest");
    f.add("first_factor", &OneCycleScheduleConfig::first_factor)
        .range(0.0, 1.0)
        .help("initial learning rate, relative to the base learning rate");
    f.add("final_factor", &OneCycleScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of the job, relative to the base learning rate");
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
        .help("length of the first cycle");
    f.add("growth", &WarmRestartsScheduleConfig::growth)
        .range(1, 1000)
        .help("length of a cycle relative to the previous one");
    f.add("final_factor", &WarmRestartsScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of a cycle, relative to the base learning rate");
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
        .help("factor of the learning rate at each reduction");
    f.add("patience", &PlateauScheduleConfig::patience)
        .at_least(0)
        .unit("evaluations")
        .help("evaluations without improvement of eval.metric before a reduction");
    f.add("threshold", &PlateauScheduleConfig::threshold)
        .range(0.0, 1.0)
        .help("relative improvement of the metric that counts");
    f.add("cooldown", &PlateauScheduleConfig::cooldown)
        .at_least(0)
        .unit("evaluations")
        .help("evaluations after a reduction that are not counted");
    f.add("final_factor", &PlateauScheduleConfig::final_factor)
        .range(0.0, 1.0)
        .help("lowest learning rate, relative to the base learning rate");
  }
};

}  // namespace trireme::optim
