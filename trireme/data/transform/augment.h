// Random changes of a training image besides crop and flip, drawn from a random stream that belongs
// to the sample.
//
// RandAugment:   as in the paper (Cubuk et al. 2020), with torchvision's fourteen operations and
//                magnitudes from 0 to 30, drawn for each image; bilinear where pixels move, and
//                shear about the centre.
// Thread safety: pure functions; any thread.

#pragma once

#include "trireme/base/random.h"
#include "trireme/data/transform/image.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {

// Rotation, zoom, colours, RandAugment and cutout, in this order, if enabled in the settings.
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

// `is_reversed`: to the left, darker, less saturated; ignored by operations with one direction.
void run_operation(RandOperation operation, int magnitude, bool is_reversed, float* image,
                   ImageSize size);

}  // namespace trireme::data::transform
