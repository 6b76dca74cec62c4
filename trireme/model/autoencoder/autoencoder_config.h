// AutoencoderConfig: the hidden sizes and the code size of an autoencoder.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct AutoencoderConfig {
  std::vector<std::int64_t> widths = {256, 64};
  std::int64_t code = 16;
  double dropout = 0;

  static void describe(config::Fields<AutoencoderConfig>& f) {
    f.add("widths", &AutoencoderConfig::widths)
        .range(1, 1 << 20)
        .help("neurons of each layer before the code; those after it mirror them");
    f.add("code", &AutoencoderConfig::code)
        .range(1, 1 << 20)
        .help("numbers that a sample is told again from");
    f.add("dropout", &AutoencoderConfig::dropout)
        .range(0.0, 0.99)
        .help("share of each layer but the code that training drops");
  }
};

}  // namespace trireme::model
