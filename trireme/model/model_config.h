// ModelConfig is what a recipe says of every model, whatever its kind.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct ModelConfig {
  bool recompute = false;

  static void describe(config::Fields<ModelConfig>& f) {
    f.add("recompute", &ModelConfig::recompute)
        .help("forget activations inside each block and compute them again in backward");
  }
};

}  // namespace trireme::model
