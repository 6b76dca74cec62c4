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
        .synonyms({"warmup", "num_warmup_steps"})
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
    f.add("step_size", &StepScheduleConfig::every)
        .at_least(1)
        .unit("steps")
        .help("steps between two reductions");
    f.add("gamma", &StepScheduleConfig::factor)
        .range(0.0, 1.0)
        .help("factor of the learning rate at each reduction");
  }
};

struct LinearScheduleConfig {
  double min_lr_factor = 0;

  static void describe(config::Fields<LinearScheduleConfig>& f) {
    f.add("min_lr_factor", &LinearScheduleConfig::min_lr_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of the job, relative to the base learning rate");
  }
};

struct CosineScheduleConfig {
  double min_lr_factor = 0;

  static void describe(config::Fields<CosineScheduleConfig>& f) {
    f.add("min_lr_factor", &CosineScheduleConfig::min_lr_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of the job, relative to the base learning rate");
  }
};

struct ExponentialScheduleConfig {
  double factor = 0.999;

  static void describe(config::Fields<ExponentialScheduleConfig>& f) {
    f.add("gamma", &ExponentialScheduleConfig::factor)
        .range(0.0, 1.0)
        .help("factor of the learning rate at each step");
  }
};

struct PolynomialScheduleConfig {
  double power = 1;
  double min_lr_factor = 0;

  static void describe(config::Fields<PolynomialScheduleConfig>& f) {
    f.add("power", &PolynomialScheduleConfig::power)
        .range(0.0, 100.0)
        .help("power of the fraction of remaining steps");
    f.add("min_lr_factor", &PolynomialScheduleConfig::min_lr_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of the job, relative to the base learning rate");
  }
};

struct InverseSqrtScheduleConfig {
  static void describe(config::Fields<InverseSqrtScheduleConfig>&) {}
};

struct OneCycleScheduleConfig {
  double pct_start = 0.3;
  double start_factor = 0.04;
  double min_lr_factor = 4e-6;

  static void describe(config::Fields<OneCycleScheduleConfig>& f) {
    f.add("pct_start", &OneCycleScheduleConfig::pct_start)
        .range(0.0, 1.0)
        .help("fraction of the steps until the learning rate is highest");
    f.add("start_factor", &OneCycleScheduleConfig::start_factor)
        .range(0.0, 1.0)
        .help("initial learning rate, relative to the base learning rate");
    f.add("min_lr_factor", &OneCycleScheduleConfig::min_lr_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of the job, relative to the base learning rate");
  }
};

struct WarmRestartsScheduleConfig {
  std::int64_t every = 1000;
  std::int64_t growth = 1;
  double min_lr_factor = 0;

  static void describe(config::Fields<WarmRestartsScheduleConfig>& f) {
    f.add("t_0", &WarmRestartsScheduleConfig::every)
        .at_least(1)
        .unit("steps")
        .help("length of the first cycle");
    f.add("t_mult", &WarmRestartsScheduleConfig::growth)
        .range(1, 1000)
        .help("length of a cycle relative to the previous one");
    f.add("min_lr_factor", &WarmRestartsScheduleConfig::min_lr_factor)
        .range(0.0, 1.0)
        .help("learning rate at the end of a cycle, relative to the base learning rate");
  }
};

struct PlateauScheduleConfig {
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;
  std::int64_t cooldown = 0;
  double min_lr_factor = 0;

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
    f.add("min_lr_factor", &PlateauScheduleConfig::min_lr_factor)
        .range(0.0, 1.0)
        .help("lowest learning rate, relative to the base learning rate");
  }
};

}  // namespace trireme::optim
