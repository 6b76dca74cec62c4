// Trains a byte-pair vocabulary on a text: starting with the 256 bytes, the most frequent pair of
// neighbouring tokens becomes a token, repeatedly.
//
// Semantics:     numbers are assigned to special tokens, then to the bytes in the order of their
//                letters, then to merged tokens. Of equally frequent pairs the one with lower
//                numbers comes first, so that the vocabulary of a text is unique and equal to that
//                of Hugging Face's ByteLevel BpeTrainer.
// Cost:          memory for every distinct word, not for the text.
// Thread safety: pure functions; a WordCounts belongs to one thread.
// Errors:        InvalidInput if the vocabulary is smaller than its initial tokens.

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

struct BpeOptions {
  std::size_t vocabulary = 4096;  // number of tokens; fewer if the text has no more pairs
  std::int64_t count_min = 2;     // minimum count of a pair that becomes a token
  std::vector<std::string> specials = {};
};

TokenizerParts train_bpe(const WordCounts& words, const BpeOptions& options);

}  // namespace trireme::data::tokenizer
