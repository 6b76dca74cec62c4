// Bleu computes the BLEU score of generated texts against reference texts (Papineni et al. 2002),
// from the precision of n-grams of 1 to 4 words over a whole corpus.
//
// An n-gram counts at most as often as it occurs in the reference that contains it most often. The
// score is the geometric mean of the four precisions, times the brevity penalty exp(1 - r / h) if
// the references are longer (r words in total) than the generated texts (h words). Of several
// references, r counts the one nearest in length; of two equally near ones the shorter. There is no
// smoothing: without a common 4-gram the score is 0.
//
// Errors:        bleu_of_continuations() throws InvalidInput if the samples are not texts of at
//                least two tokens, and what the model throws.
// Thread safety: a value; bleu_of_continuations(): one thread.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/source/source.h"
#include "trireme/model/model.h"

namespace trireme::train {

using Sentence = std::vector<std::string>;

// Splits a text at blanks.
Sentence split_words(std::string_view text);

class Bleu {
 public:
  static constexpr std::size_t kLongest = 4;

  // REQUIRES: at least one reference.
  void add(const Sentence& written, std::span<const Sentence> references);

  // 0 to 1.
  double score() const;
  // The fraction of n-grams of `length` words, 1 to 4, that occur in a reference; 0 if there are no
  // n-grams.
  double precision(std::size_t length) const;
  // 1 if the generated texts are not shorter than the references.
  double brevity_penalty() const;

 private:
  std::array<std::int64_t, kLongest> matches_{};
  std::array<std::int64_t, kLongest> totals_{};
  std::int64_t written_ = 0;   // words
  std::int64_t expected_ = 0;  // words of the references
};

// The BLEU score of a language model on `windows` windows, which are spread evenly over a source.
// The model reads the first half of each and generates the second half, always with the most likely
// token. The result is scored against the window's own second half, as words separated by blanks,
// or as numbers if tokens have no text.
double bleu_of_continuations(model::Model& model, const data::Source& source, std::int64_t windows);

}  // namespace trireme::train
