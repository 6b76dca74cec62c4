// The BLEU score of continuations that a language model generates.
//
// `windows` windows are spread evenly over a source. The model reads the first half of each and
// generates the second half, always with the most likely token. The result is scored against the
// window's own second half, as words separated by blanks, or as numbers if tokens have no text.
//
// Errors:        InvalidInput if the samples are not texts of at least two tokens; what the model
//                throws.
// Thread safety: one thread.

#pragma once

#include <cstdint>

#include "trireme/data/source/source.h"
#include "trireme/model/model.h"

namespace trireme::train {

double bleu_of_continuations(model::Model& model, const data::Source& source, std::int64_t windows);

}  // namespace trireme::train
