// The settings of [average]: which average of the weights is kept in addition to them.

#pragma once

#include <cstdint>

#include "trireme/base/config/fields.h"

namespace trireme::optim {

struct NoAverageConfig {
  static void describe(config::Fields<NoAverageConfig>&) {}
};

struct EmaConfig {
  double decay = 0.999;
  std::int64_t begin = 1;

  static void describe(config::Fields<EmaConfig>& f) {
    f.add("decay", &EmaConfig::decay).range(0.0, 0.9999999).help("decay of the moving average");
    f.add("begin", &EmaConfig::begin)
        .at_least(1)
        .unit("updates")
        .help("first update that is averaged; before it the average equals the weights");
  }
};

struct SwaConfig {
  std::int64_t begin = 1000;
  std::int64_t every = 100;

  static void describe(config::Fields<SwaConfig>& f) {
    f.add("begin", &SwaConfig::begin)
        .at_least(1)
        .unit("updates")
        .help("first update that is averaged; before it the average equals the weights");
    f.add("every", &SwaConfig::every)
        .at_least(1)
        .unit("updates")
        .help("updates between two that are averaged with equal weight");
  }
};

}  // namespace trireme::optim
