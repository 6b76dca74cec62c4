// How a byte-pair vocabulary is learned from a text: beginning with the 256 bytes, the most
// frequent pair of neighbours becomes a token, again and again.
//
// Meaning: numbers are given to special tokens, then to the bytes in the order of their letters,
//          then to what is merged. Of equally frequent pairs the one of lower numbers goes first,
//          so that a text has one vocabulary: that of Hugging Face's ByteLevel BpeTrainer.
// Cost:    memory for every distinct word, not for the text.
// Threads: pure; WordCounts is one thread's.
// Failure: InvalidInput where the vocabulary is smaller than what it begins with.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trireme/data/tokenizer/tokenizer.h"

namespace trireme::data::tokenizer {

class WordCounts {
 public:
  explicit WordCounts(Split split = Split::Gpt2) : split_(split) {}

  void add(std::string_view text);

  Split split() const noexcept { return split_; }
  std::int64_t count_of(const std::string& word) const;
  const auto& all() const noexcept { return counts_; }

 private:
  Split split_;
  std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>> counts_;
};

struct TrainOptions {
  std::size_t vocabulary = 4096;  // tokens; fewer where the text has no more pairs
  std::int64_t count_min = 2;     // of a pair that becomes a token
  std::vector<std::string> specials = {};
};

TokenizerParts train_bpe(const WordCounts& words, const TrainOptions& options);

}  // namespace trireme::data::tokenizer
