// LinearModelConfig and LogisticConfig: models of one layer.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct LinearModelConfig {
  bool bias = true;

  static void describe(config::Fields<LinearModelConfig>& f) {
    f.add("bias", &LinearModelConfig::bias).help("a number of its own for each prediction");
  }
};

struct LogisticConfig {
  bool bias = true;

  static void describe(config::Fields<LogisticConfig>& f) {
    f.add("bias", &LogisticConfig::bias).help("a number of its own for each class");
  }
};

}  // namespace trireme::model
