// TransformConfig contains the settings of `[data]` that transform images before they reach the
// model. They are applied in the order of this list; those from pad_crop to cutout, and mixing,
// only to training images.
//
// Thread safety: a value type.

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

  // Whether no transform is enabled, except mixing, which mixed() does.
  bool is_nothing() const;
  // Whether there is random augmentation besides pad_crop and flip.
  bool is_augmented() const;
  static void describe(config::Fields<TransformConfig>& f);
};

}  // namespace trireme::data::transform
