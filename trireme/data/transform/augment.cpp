#include "trireme/data/transform/augment.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trireme/data/transform/affine.h"
#include "trireme/data/transform/colour.h"

namespace trireme::data::transform {
namespace {

void warp_in_place(float* image, ImageSize size, const Affine& affine) {
  if (affine.is_nothing()) return;
  thread_local std::vector<float> original;
  original.assign(image, image + size.count());
  warp(original.data(), image, size, affine);
}

double between(Random& random, double least, double most) {
  return least + random.uniform_double() * (most - least);
}

// A factor between 1 - change and 1 + change.
float factor_of(Random& random, double change) {
  return static_cast<float>(between(random, std::max(0.0, 1 - change), 1 + change));
}

}  // namespace

void run_operation(RandOperation operation, int magnitude, bool is_reversed, float* image,
                   ImageSize size) {
  const double share = static_cast<double>(magnitude) / kMagnitudeMax;
  const double sign = is_reversed ? -1 : 1;
  const double slant = sign * share * 0.3;
  const double move = sign * share * 150.0 / 331.0;
  const auto factor = static_cast<float>(1 + sign * share * 0.9);
  switch (operation) {
    case RandOperation::Identity:
      return;
    case RandOperation::ShearX:
      return warp_in_place(image, size, Affine::slanted(slant, 0));
    case RandOperation::ShearY:
      return warp_in_place(image, size, Affine::slanted(0, slant));
    case RandOperation::TranslateX:
      return warp_in_place(image, size,
                           Affine::moved(std::trunc(move * static_cast<double>(size.width)), 0));
    case RandOperation::TranslateY:
      return warp_in_place(image, size,
                           Affine::moved(0, std::trunc(move * static_cast<double>(size.height))));
    case RandOperation::Rotate:
      return warp_in_place(image, size, Affine::turned(sign * share * 30));
    case RandOperation::Brightness:
      return adjust_brightness(image, size, factor);
    case RandOperation::Colour:
      return adjust_saturation(image, size, factor);
    case RandOperation::Contrast:
      return adjust_contrast(image, size, factor);
    case RandOperation::Sharpness:
      return adjust_sharpness(image, size, factor);
    case RandOperation::Posterize:
      return posterize(image, size, 8 - static_cast<int>(std::lround(share * 4)));
    case RandOperation::Solarize:
      return solarize(image, size, static_cast<float>(1 - share));
    case RandOperation::Autocontrast:
      return autocontrast(image, size);
    case RandOperation::Equalize:
      return equalize(image, size);
  }
}

void augment(float* image, ImageSize size, const TransformConfig& config, Random& random) {
  Affine affine;
  if (config.rotate > 0) affine = Affine::turned(between(random, -config.rotate, config.rotate));
  if (config.zoom > 0) {
    affine = Affine::scaled(between(random, 1 / (1 + config.zoom), 1 + config.zoom)).after(affine);
  }
  warp_in_place(image, size, affine);
  if (config.brightness > 0) adjust_brightness(image, size, factor_of(random, config.brightness));
  if (config.contrast > 0) adjust_contrast(image, size, factor_of(random, config.contrast));
  if (config.saturation > 0) adjust_saturation(image, size, factor_of(random, config.saturation));
  if (config.hue > 0) {
    adjust_hue(image, size, static_cast<float>(between(random, -config.hue, config.hue)));
  }
  for (int i = 0; i < config.randaugment; ++i) {
    const auto operation = static_cast<RandOperation>(random.below(kRandOperations));
    const bool is_reversed = random.below(2) == 1;
    run_operation(operation, config.randaugment_magnitude, is_reversed, image, size);
  }
  if (config.cutout > 0) {
    const auto row =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size.height)));
    const auto column =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size.width)));
    cut_out(image, size, config.cutout, row, column);
  }
}

}  // namespace trireme::data::transform
