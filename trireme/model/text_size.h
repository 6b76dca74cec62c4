// How large a model of texts is, from what the recipe says and what the data are.
//
// Failure: InvalidInput where samples are no texts, nobody says how large they are, or the data
//          have more tokens than the recipe allows.
// Threads: pure.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/data/form.h"

namespace trireme::model {

struct TextSize {
  std::int64_t vocabulary = 0;  // tokens; 0: the data say
  std::int64_t context = 0;     // likewise
};

// `model`: its kind, for people.
TextSize text_size(const std::string& model, TextSize wanted, const data::Form& form);

}  // namespace trireme::model
