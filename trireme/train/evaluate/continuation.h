// How well a model of texts goes on with texts that it has not seen, in words: BLEU.
//
// Meaning: of each of so many windows of a source, evenly spread over it, the first half is read
//          and the second half written, always the likeliest token; it is scored against the
//          window's own second half, as words that blanks part, or as numbers where tokens have no
//          text.
// Threads: one.
// Failure: InvalidInput where the samples are no texts of at least two tokens; what the model
//          throws.

#pragma once

#include <cstdint>

#include "trireme/data/source/source.h"
#include "trireme/model/model.h"

namespace trireme::train {

double bleu_of_continuations(model::Model& model, const data::Source& source, std::int64_t windows);

}  // namespace trireme::train
