#include "trireme/model/feature_size.h"

#include "trireme/base/error.h"
#include "trireme/model/mlp/mlp.h"

namespace trireme::model {

FeatureSize image_size(const std::string& model, const data::Form& form) {
  require_numbers(model, form);
  if (form.input_sizes.size() != 3) {
    throw Error(ErrorCode::InvalidInput,
                "a " + model + " needs images (channels, height, width); these samples have " +
                    std::to_string(form.input_sizes.size()) + " dims");
  }
  return {form.input_sizes[0], form.input_sizes[1], form.input_sizes[2]};
}

}  // namespace trireme::model
