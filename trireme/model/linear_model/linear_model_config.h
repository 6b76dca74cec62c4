// LinearModelConfig and LogisticConfig: models of one layer.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct LinearModelConfig {
  bool bias = true;

  static void describe(config::Fields<LinearModelConfig>& f) {
    f.add("bias", &LinearModelConfig::bias).help("add a bias to each prediction");
  }
};

struct LogisticConfig {
  bool bias = true;

  static void describe(config::Fields<LogisticConfig>& f) {
    f.add("bias", &LogisticConfig::bias).help("add a bias to each class");
  }
};

}  // namespace trireme::model
