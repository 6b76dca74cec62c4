// MlpConfig: fully connected layers.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct MlpConfig {
  std::vector<std::int64_t> widths = {512, 512};
  double dropout = 0;

  static void describe(config::Fields<MlpConfig>& f) {
    f.add("hidden_sizes", &MlpConfig::widths)
        .synonyms({"widths", "hidden_size", "hidden_dims"})
        .range(1, 1 << 20)
        .help("hidden sizes, first to last");
    f.add("dropout", &MlpConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability of the hidden layers");
  }
};

}  // namespace trireme::model
