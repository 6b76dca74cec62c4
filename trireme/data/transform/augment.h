// What is random about a training image beside its crop and its mirror image: drawn from a stream
// of numbers that is the sample's own.
//
// RandAugment: as in the paper (Cubuk et al. 2020) with torchvision's fourteen operations and
//              magnitudes from 0 to 30, drawn anew for each image; bilinear where pixels move, and
//              slanted about the centre.
// Threads:     pure.

#pragma once

#include "trireme/base/random.h"
#include "trireme/data/transform/image.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {

// Turn, zoom, colours, RandAugment and cutout, in this order, as far as the settings want them.
void augment(float* image, ImageSize size, const TransformConfig& config, Random& random);

enum class RandOperation {
  Identity,
  ShearX,
  ShearY,
  TranslateX,
  TranslateY,
  Rotate,
  Brightness,
  Colour,
  Contrast,
  Sharpness,
  Posterize,
  Solarize,
  Autocontrast,
  Equalize,
};
inline constexpr int kRandOperations = 14;
inline constexpr int kMagnitudeMax = 30;

// `is_reversed`: to the left, darker, duller; no difference where there are no two ways.
void run_operation(RandOperation operation, int magnitude, bool is_reversed, float* image,
                   ImageSize size);

}  // namespace trireme::data::transform
