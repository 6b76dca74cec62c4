// Merges are what byte-pair encoding learned: which two neighbouring tokens become one, and which
// pair goes first.
//
// Meaning: of all pairs in a word that may be merged, the one of lowest rank is, and of equal ones
//          the leftmost; until there is none. n log n of the word's length.
// Threads: constant; any thread.

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
  // The rank of each is its place in the list. Of one that comes twice the later counts, as in
  // other programs.
  explicit Merges(const std::vector<Merge>& all = {});

  std::size_t count() const noexcept { return by_pair_.size(); }

  // A word's first tokens become its last.
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
