// Determines the size of a text model from the recipe and the data.
//
// Errors:        InvalidInput if samples are not texts, if neither the data nor the recipe give the
//                size, or if the data have more tokens than the recipe allows.
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/data/form.h"

namespace trireme::model {

struct TextSize {
  std::int64_t vocabulary = 0;  // tokens; 0: determined by the data
  std::int64_t context = 0;     // tokens; 0: determined by the data
};

// `model` is the kind of the model, for messages.
TextSize text_size(const std::string& model, TextSize wanted, const data::Form& form);

}  // namespace trireme::model
