// What is random about a training text: sentences in another order, words replaced by their
// synonyms, exchanged with their neighbour, or left out, in this order.
//
// Meaning: a word is what lies between blanks, and a sentence ends with a word that ends in '.',
//          '!' or '?'. Blanks stay where they are, but for those after a word that is left out,
//          which go with it. The last sentence, which may be cut, stays the last.
// Random:  drawn from a stream that is the sample's own.
// Threads: pure.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/random.h"
#include "trireme/data/text/synonyms.h"

namespace trireme::data::text {

struct TextChanges {
  double drop = 0;     // share of words
  double swap = 0;     // share of words that change places with the next
  double synonym = 0;  // share of the words that have one
  double reorder = 0;  // share of texts whose sentences are put into another order

  bool is_nothing() const noexcept {
    return drop == 0 && swap == 0 && synonym == 0 && reorder == 0;
  }
};

std::string augment_text(std::string_view text, const TextChanges& changes,
                         const Synonyms& synonyms, Random& random);

}  // namespace trireme::data::text
