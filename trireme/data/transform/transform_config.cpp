#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {

bool TransformConfig::is_nothing() const {
  return resize.empty() && pad_crop == 0 && !is_flipped && !is_standardized && mean.empty();
}

void TransformConfig::describe(config::Fields<TransformConfig>& f) {
  f.add("resize", &TransformConfig::resize)
      .range(1, 1 << 14)
      .help("[height, width] that images are resized to, bilinear; empty: as they are");
  f.add("pad_crop", &TransformConfig::pad_crop)
      .range(0, 1 << 12)
      .unit("pixels")
      .help("of zeros around a training image, of which a random part of its size is taken");
  f.add("flip", &TransformConfig::is_flipped).help("mirror every other training image at random");
  f.add("standardize", &TransformConfig::is_standardized)
      .help("bring each image to mean 0 and deviation 1");
  f.add("mean", &TransformConfig::mean).help("subtracted, a number a channel; empty: none");
  f.add("std", &TransformConfig::deviation)
      .at_least(1e-12F)
      .help("divided by after that, a number a channel");
  f.require([](const TransformConfig& c) {
    const bool is_pair = c.resize.empty() || c.resize.size() == 2;
    return is_pair ? std::string() : std::string("resize is [height, width]");
  });
  f.require([](const TransformConfig& c) {
    const bool is_even = c.mean.size() == c.deviation.size();
    return is_even ? std::string() : std::string("mean and std are given together, of one length");
  });
}

}  // namespace trireme::data::transform
