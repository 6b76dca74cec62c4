// AudioConfig: width and depth of a network for spoken words, after Zhang, Suda, Lai and Chandra,
// "Hello Edge: Keyword Spotting on Microcontrollers", 2017 (DS-CNN).

#pragma once

#include <cstdint>

#include "trireme/base/config/fields.h"

namespace trireme::model {

struct AudioConfig {
  std::int64_t width = 64;
  std::int64_t layers = 4;
  double dropout = 0;

  static void describe(config::Fields<AudioConfig>& f) {
    f.add("channels", &AudioConfig::width).range(1, 1 << 12).help("channels of every convolution");
    f.add("num_layers", &AudioConfig::layers)
        .range(0, 100)
        .help("number of depthwise-separable convolutions after the first convolution");
    f.add("dropout", &AudioConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability before the last layer");
  }
};

}  // namespace trireme::model
