#include "trireme/model/text_size.h"

#include "trireme/base/error.h"

namespace trireme::model {

TextSize text_size(const std::string& model, TextSize wanted, const data::Form& form) {
  // A form without sizes does not come from data; the recipe then determines everything.
  if (!form.input_sizes.empty() && (form.input_type != at::kLong || form.input_sizes.size() != 1)) {
    throw Error(ErrorCode::InvalidInput,
                "a " + model +
                    " requires texts (rows of tokens), and these samples are not. Use data of kind "
                    "text or tokens, or another model.kind (cnn for images, mlp for numbers)");
  }
  if (wanted.vocabulary == 0) wanted.vocabulary = form.classes;
  if (wanted.context == 0 && !form.input_sizes.empty()) wanted.context = form.input_sizes[0];
  if (wanted.vocabulary < 1 || wanted.context < 1) {
    throw Error(ErrorCode::InvalidInput,
                "a " + model +
                    " requires a vocabulary size and a context; the data are not texts, so set "
                    "model.vocab_size and model.max_seq_len");
  }
  if (form.classes > wanted.vocabulary) {
    throw Error(ErrorCode::InvalidInput, "the data have " + std::to_string(form.classes) +
                                             " distinct tokens, and model.vocab_size is " +
                                             std::to_string(wanted.vocabulary));
  }
  if (!form.input_sizes.empty() && form.input_sizes[0] > wanted.context) {
    const std::string context = std::to_string(wanted.context);
    throw Error(ErrorCode::InvalidInput,
                "samples of " + std::to_string(form.input_sizes[0]) +
                    " tokens (data.seq_len) are longer than model.max_seq_len = " + context +
                    ". Set data.seq_len=" + context + " or less, or a larger model.max_seq_len");
  }
  return wanted;
}

}  // namespace trireme::model
