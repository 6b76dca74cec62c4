// Bleu computes the BLEU score of generated texts against reference texts (Papineni et al. 2002),
// from the precision of n-grams of 1 to 4 words over a whole corpus.
//
// An n-gram counts at most as often as it occurs in the reference that contains it most often. The
// score is the geometric mean of the four precisions, times the brevity penalty exp(1 - r / h) if
// the references are longer (r words in total) than the generated texts (h words). Of several
// references, r counts the one nearest in length; of two equally near ones the shorter. There is no
// smoothing: without a common 4-gram the score is 0.
//
// Thread safety: a value.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace trireme::train
