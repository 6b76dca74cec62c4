// Merges are the result of byte-pair encoding training: which two neighbouring tokens are merged
// into one, and in which order.
//
// Semantics:     the pair of lowest rank in a word is merged first, of equal pairs the leftmost,
//                until no pair can be merged. O(n log n) in the length of the word.
// Thread safety: immutable; any thread.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace trireme::data::tokenizer {

using Token = std::uint32_t;

struct Merge {
  Token left = 0;
  Token right = 0;
  Token result = 0;

  friend bool operator==(const Merge&, const Merge&) = default;
};

class Merges {
 public:
  // The rank of each is its index in the list. Of duplicates the later one is used, as in other
  // programs.
  explicit Merges(const std::vector<Merge>& all = {});

  std::size_t count() const noexcept { return by_pair_.size(); }

  // Replaces the initial tokens of a word by its final ones.
  void apply(std::vector<Token>& word) const;

 private:
  struct Ranked {
    std::uint32_t rank = 0;
    Token result = 0;
  };

  const Ranked* find(Token left, Token right) const;

  std::unordered_map<std::uint64_t, Ranked> by_pair_;
};

}  // namespace trireme::data::tokenizer
