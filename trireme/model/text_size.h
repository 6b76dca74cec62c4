// Determines the size of a text model from the recipe and the data.
//
// Errors:        InvalidInput if samples are not texts, if neither the data nor the recipe give the
//                size, or if the data have more tokens or longer samples than the recipe allows.
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "trireme/data/form.h"

namespace trireme::model {

// The context of a model that has no limit.
inline constexpr std::int64_t kAnyContext = std::numeric_limits<std::int64_t>::max();

struct TextSize {
  std::int64_t vocabulary = 0;  // tokens; 0: determined by the data
  std::int64_t context = 0;     // tokens; 0: determined by the data
};

// `model` is the kind of the model, for messages.
TextSize text_size(const std::string& model, TextSize wanted, const data::Form& form);

}  // namespace trireme::model
