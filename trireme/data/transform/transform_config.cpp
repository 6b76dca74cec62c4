#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {

bool TransformConfig::is_nothing() const {
  return resize.empty() && pad_crop == 0 && !is_flipped && !is_standardized && mean.empty() &&
         !is_augmented();
}

bool TransformConfig::is_augmented() const {
  return rotate > 0 || zoom > 0 || brightness > 0 || contrast > 0 || saturation > 0 || hue > 0 ||
         randaugment > 0 || cutout > 0;
}

void TransformConfig::describe(config::Fields<TransformConfig>& f) {
  f.add("resize", &TransformConfig::resize)
      .range(1, 1 << 14)
      .help("[height, width] that images are resized to, bilinear; empty: as they are");
  f.add("pad_crop", &TransformConfig::pad_crop)
      .range(0, 1 << 12)
      .unit("pixels")
      .help("margin of zeros around a training image, before a random crop of its size");
  f.add("horizontal_flip", &TransformConfig::is_flipped)
      .help("mirror every other training image at random");
  using T = TransformConfig;
  f.add("rotate", &T::rotate)
      .range(0.0, 180.0)
      .unit("degrees")
      .help("turn at most so far, either way");
  f.add("zoom", &T::zoom).range(0.0, 10.0).help("0.2: scale by 1 / 1.2 to 1.2 at random");
  f.add("brightness", &T::brightness).range(0.0, 10.0).help("0.2: times 0.8 to 1.2 at random");
  f.add("contrast", &T::contrast).range(0.0, 10.0).help("the same of the distance from mean grey");
  f.add("saturation", &T::saturation).range(0.0, 10.0).help("the same of the distance from grey");
  f.add("hue", &T::hue)
      .range(0.0, 0.5)
      .help("turn colours by at most so much of the circle of hues, either way");
  f.add("randaugment", &T::randaugment)
      .range(0, 14)
      .help("operations of RandAugment that each image goes through, drawn from fourteen");
  f.add("randaugment_magnitude", &T::randaugment_magnitude)
      .range(0, 30)
      .help("how much each of them does");
  f.add("cutout", &T::cutout)
      .range(0, 1 << 14)
      .unit("pixels")
      .help("side of a black square somewhere in the image");
  f.add("standardize", &TransformConfig::is_standardized)
      .help("bring each image to mean 0 and deviation 1");
  f.add("mean", &TransformConfig::mean).help("subtracted, a number a channel; empty: none");
  f.add("std", &TransformConfig::deviation)
      .at_least(1e-12F)
      .help("divided by after that, a number a channel");
  f.add("mixup", &T::mixup)
      .range(0.0, 100.0)
      .help("alpha: mix each image with another, and their classes likewise; 0: no");
  f.add("cutmix", &T::cutmix)
      .range(0.0, 100.0)
      .help("alpha: put a rectangle of another image into each; with mixup, either at random");
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
