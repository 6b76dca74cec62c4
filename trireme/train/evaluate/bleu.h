// Bleu scores texts that a model wrote against what people wrote (Papineni et al. 2002): which
// share of its words, pairs, threes and fours of words are theirs, over a whole corpus.
//
// Meaning: a run of words counts at most as often as it occurs in the reference that has it most;
//          the score is the geometric mean of the four shares, times exp(1 - r / h) where the
//          references are longer (r words in all, of each the one nearest in length; the shorter
//          of two as near) than what was written (h words). Nothing is smoothed: without a single
//          run of four in common it is 0.
// Threads: a value.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::train {

using Sentence = std::vector<std::string>;

// What blanks part.
Sentence split_words(std::string_view text);

class Bleu {
 public:
  static constexpr std::size_t kLongest = 4;

  // REQUIRES: at least one reference.
  void add(const Sentence& written, std::span<const Sentence> references);

  // 0 to 1.
  double score() const;
  // The share of runs of `length` words, 1 to 4, that occur in a reference; 0 where there are none.
  double precision(std::size_t length) const;
  // 1 where nothing is missing.
  double brevity_penalty() const;

 private:
  std::array<std::int64_t, kLongest> matches_{};
  std::array<std::int64_t, kLongest> totals_{};
  std::int64_t written_ = 0;   // words
  std::int64_t expected_ = 0;  // words of the references
};

}  // namespace trireme::train
