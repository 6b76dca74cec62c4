// FeatureSize is how large an image is, or what convolutions have made of it.
//
// Failure: InvalidInput where samples are no images.
// Threads: pure.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/data/form.h"

namespace trireme::model {

struct FeatureSize {
  std::int64_t channels = 1, height = 1, width = 1;
};

// Of a sample. `model`: its kind, for people.
FeatureSize image_size(const std::string& model, const data::Form& form);

}  // namespace trireme::model
