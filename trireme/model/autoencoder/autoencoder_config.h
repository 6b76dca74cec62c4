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
    f.add("hidden_sizes", &AutoencoderConfig::widths)
        .range(1, 1 << 20)
        .help("hidden sizes of the encoder's layers; the decoder mirrors them");
    f.add("latent_size", &AutoencoderConfig::code)
        .range(1, 1 << 20)
        .help("size of the code from which a sample is reconstructed");
    f.add("dropout", &AutoencoderConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability of each layer except the code");
  }
};

}  // namespace trireme::model
