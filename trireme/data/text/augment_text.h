// Random changes of a training text, in this order: sentences are reordered, words are replaced by
// synonyms, swapped with the next word, or dropped.
//
// Semantics:     a word is the text between blanks, and a sentence ends with a word that ends in
//                '.', '!' or '?'. Blanks stay in place, except those after a dropped word, which
//                are dropped with it. The last sentence, which may be truncated, stays the last.
// Randomness:    drawn from a stream that belongs to the sample.
// Thread safety: pure functions; any thread.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/random.h"
#include "trireme/data/text/synonyms.h"

namespace trireme::data::text {

struct TextChanges {
  double drop = 0;     // fraction of words
  double swap = 0;     // fraction of words that are swapped with the next one
  double synonym = 0;  // fraction of the words that have a synonym
  double reorder = 0;  // fraction of texts whose sentences are reordered

  bool is_nothing() const noexcept {
    return drop == 0 && swap == 0 && synonym == 0 && reorder == 0;
  }
};

std::string augment_text(std::string_view text, const TextChanges& changes,
                         const Synonyms& synonyms, Random& random);

}  // namespace trireme::data::text
