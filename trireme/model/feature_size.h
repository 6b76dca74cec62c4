// FeatureSize is the size of an image or of a feature map; the functions determine the sizes of a
// model from the data.
//
// Errors:        InvalidInput if the data do not match the model.
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/data/form.h"

namespace trireme::model {

struct FeatureSize {
  std::int64_t channels = 1, height = 1, width = 1;
};

// Errors if samples are tokens. `model` is the kind of the model, for messages.
void require_numbers(const std::string& model, const data::Form& form);

// The size of a sample. Errors if samples are not images.
FeatureSize image_size(const std::string& model, const data::Form& form);

// The number of outputs of a model for such data: classes, or the numbers of a target. Errors if
// there are neither, or several tasks.
std::int64_t outputs_for(const data::Form& form);

}  // namespace trireme::model
