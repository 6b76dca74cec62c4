#include "trireme/model/feature_size.h"

#include "trireme/base/error.h"

namespace trireme::model {

std::int64_t outputs_for(const data::Form& form) {
  if (!form.tasks.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "the data have several targets per sample; use model.kind=multitask");
  }
  const std::int64_t outputs = form.classes ? form.classes : form.target_count();
  if (outputs < 1) {
    throw Error(ErrorCode::InvalidInput, "the data have no classes and no numbers to predict");
  }
  return outputs;
}

void require_numbers(const std::string& model, const data::Form& form) {
  if (at::isFloatingType(form.input_type)) return;
  throw Error(ErrorCode::InvalidInput,
              (model.starts_with('a') ? "an " : "a ") + model +
                  " requires numbers, and these samples are tokens; use model.kind=gpt, or "
                  "data of another kind");
}

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
