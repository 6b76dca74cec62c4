// The settings of [schedule]: how the learning rate changes while a job runs. options() returns
// those of the Schedule besides the learning rate and the steps.

#pragma once

#include <cstdint>

#include "trireme/base/config/fields.h"
#include "trireme/optim/schedule/schedule.h"

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

// The rate at the end, for schedules that end with the job.
template <class Config>
void describe_end(config::Fields<Config>& f) {
  f.add("min_lr_factor", &Config::min_lr_factor)
      .range(0.0, 1.0)
      .help("learning rate at the end of the job, relative to the base learning rate");
}

// A schedule without settings.
template <Schedule::Kind kKind>
struct PlainScheduleConfig {
  static void describe(config::Fields<PlainScheduleConfig>&) {}
  Schedule::Options options() const { return {.kind = kKind}; }
};

using ConstantScheduleConfig = PlainScheduleConfig<Schedule::Kind::Constant>;
using InverseSqrtScheduleConfig = PlainScheduleConfig<Schedule::Kind::InverseSqrt>;

// A schedule that decreases until the end of the job.
template <Schedule::Kind kKind>
struct DecreasingScheduleConfig {
  double min_lr_factor = 0;

  static void describe(config::Fields<DecreasingScheduleConfig>& f) { describe_end(f); }
  Schedule::Options options() const { return {.kind = kKind, .min_lr_factor = min_lr_factor}; }
};

using LinearScheduleConfig = DecreasingScheduleConfig<Schedule::Kind::Linear>;
using CosineScheduleConfig = DecreasingScheduleConfig<Schedule::Kind::Cosine>;

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

  Schedule::Options options() const {
    return {.kind = Schedule::Kind::Step, .every = every, .factor = factor};
  }
};

struct ExponentialScheduleConfig {
  double factor = 0.999;

  static void describe(config::Fields<ExponentialScheduleConfig>& f) {
    f.add("gamma", &ExponentialScheduleConfig::factor)
        .range(0.0, 1.0)
        .help("factor of the learning rate at each step");
  }

  Schedule::Options options() const {
    return {.kind = Schedule::Kind::Exponential, .factor = factor};
  }
};

struct PolynomialScheduleConfig {
  double power = 1;
  double min_lr_factor = 0;

  static void describe(config::Fields<PolynomialScheduleConfig>& f) {
    f.add("power", &PolynomialScheduleConfig::power)
        .range(0.0, 100.0)
        .help("power of the fraction of remaining steps");
    describe_end(f);
  }

  Schedule::Options options() const {
    return {.kind = Schedule::Kind::Polynomial, .min_lr_factor = min_lr_factor, .power = power};
  }
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
    describe_end(f);
  }

  Schedule::Options options() const {
    return {.kind = Schedule::Kind::OneCycle,
            .min_lr_factor = min_lr_factor,
            .start_factor = start_factor,
            .pct_start = pct_start};
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

  Schedule::Options options() const {
    return {.kind = Schedule::Kind::WarmRestarts,
            .every = every,
            .min_lr_factor = min_lr_factor,
            .growth = growth};
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
