// GanConfig: a generator and a discriminator, after Radford et al., "Unsupervised representation
// learning with deep convolutional generative adversarial networks", 2016.

#pragma once

#include <cstdint>

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct GanConfig {
  std::int64_t latent = 64;
  std::int64_t width = 32;

  static void describe(config::Fields<GanConfig>& f) {
    f.add("latent_size", &GanConfig::latent)
        .range(1, 1 << 16)
        .help("size of the random vector from which an image is generated");
    f.add("base_channels", &GanConfig::width)
        .range(1, 1 << 14)
        .help(
            "channels of the layers next to the image; the layers behind them have twice this "
            "number");
  }
};

}  // namespace trireme::model
