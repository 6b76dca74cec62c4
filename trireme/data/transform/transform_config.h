// TransformConfig is what `[data]` says of images on their way to a model. They happen in the order
// in which they are listed here; from pad_crop to cutout, and mixing, to training images only.
//
// Threads: a value.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::data::transform {

struct TransformConfig {
  std::vector<std::int64_t> resize = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t pad_crop = 0;
  bool is_flipped = false;
  double rotate = 0;
  double zoom = 0;
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double hue = 0;
  int randaugment = 0;
  int randaugment_magnitude = 9;
  std::int64_t cutout = 0;
  bool is_standardized = false;
  std::vector<float> mean = {};       // NOLINT(readability-redundant-member-init)
  std::vector<float> deviation = {};  // NOLINT(readability-redundant-member-init)
  double mixup = 0;
  double cutmix = 0;

  // But for mixing, which is another source's.
  bool is_nothing() const;
  // Whether more is random than pad_crop and flip.
  bool is_augmented() const;
  static void describe(config::Fields<TransformConfig>& f);
};

}  // namespace trireme::data::transform
