// TransformConfig is what `[data]` says of images on their way to a model. They happen in the order
// in which they are listed here; pad_crop and flip to training images only.
//
// Threads: a value.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::data::transform {

struct TransformConfig {
  std::vector<std::int64_t> resize = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t pad_crop = 0;
  bool is_flipped = false;
  bool is_standardized = false;
  std::vector<float> mean = {};       // NOLINT(readability-redundant-member-init)
  std::vector<float> deviation = {};  // NOLINT(readability-redundant-member-init)

  bool is_nothing() const;
  static void describe(config::Fields<TransformConfig>& f);
};

}  // namespace trireme::data::transform
