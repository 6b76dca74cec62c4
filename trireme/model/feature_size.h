// FeatureSize is the size of an image or of a feature map.
//
// Errors:        InvalidInput if samples are not images.
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/data/form.h"

namespace trireme::model {

struct FeatureSize {
  std::int64_t channels = 1, height = 1, width = 1;
};

// The size of a sample. `model` is the kind of the model, for messages.
FeatureSize image_size(const std::string& model, const data::Form& form);

}  // namespace trireme::model
