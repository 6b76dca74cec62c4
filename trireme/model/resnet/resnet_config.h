// ResnetConfig: depth, first channels and stem of a residual network.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"

namespace trireme::model {

enum class ResnetStem {
  Auto,   // Small for images of up to 64 pixels per side
  Small,  // one 3 x 3 convolution
  Large,  // a 7 x 7 convolution that halves the image, and pooling that halves it again
};

struct ResnetConfig {
  std::int64_t depth = 14;
  std::int64_t width = 0;
  ResnetStem stem = ResnetStem::Auto;

  static void describe(config::Fields<ResnetConfig>& f) {
    f.add("depth", &ResnetConfig::depth)
        .check([](const std::int64_t& depth) {
          return depth == 14 || depth == 18 || depth == 34 || depth == 50
                     ? ""
                     : "is none of 14 (three stages, for small images), 18, 34 and 50";
        })
        .unit("layers")
        .help("number of layers: 14 (for small images), 18, 34 or 50");
    f.add("base_channels", &ResnetConfig::width)
        .range(0, 1 << 12)
        .help(
            "channels of the first stage, doubled at each later one; 0: 32 for depth 14, otherwise "
            "64");
    f.add("stem", &ResnetConfig::stem)
        .names({{"auto", ResnetStem::Auto},
                {"small", ResnetStem::Small},
                {"imagenet", ResnetStem::Large}})
        .help(
            "first layers: small keeps the image size, imagenet quarters it; auto: by the image "
            "size");
  }

  std::int64_t first_channels() const noexcept { return width ? width : depth == 14 ? 32 : 64; }
};

}  // namespace trireme::model
