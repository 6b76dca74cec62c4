#include "trireme/data/tokenizer/train.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "trireme/base/error.h"
#include "trireme/data/tokenizer/byte_letters.h"

namespace trireme::data::tokenizer {
namespace {

struct Word {
  std::vector<Token> tokens;
  std::int64_t count = 0;
};

struct PairPlaces {
  std::int64_t count = 0;
  // May contain duplicates, and words that no longer contain the pair.
  std::vector<std::uint32_t> words;
};

constexpr std::uint64_t key_of(Token left, Token right) noexcept {
  return std::uint64_t{left} << 32 | right;
}

struct Offer {
  std::int64_t count = 0;
  std::uint64_t pair = 0;

  bool operator<(const Offer& other) const {
    return std::tie(count, other.pair) < std::tie(other.count, pair);
  }
};

class MergeLearner {
 public:
  explicit MergeLearner(TokenizerParts& parts) : parts_(parts) {
    for (std::size_t i = 0; i < parts.pieces.size(); ++i) {
      tokens_.emplace(parts.pieces[i], static_cast<Token>(i));
    }
  }

  void add(std::string_view bytes, std::int64_t count) {
    Word word{.tokens = {}, .count = count};
    for (const char byte : bytes) word.tokens.push_back(tokens_.at(std::string(1, byte)));
    const auto index = static_cast<std::uint32_t>(words_.size());
    words_.push_back(std::move(word));
    count_pairs(index, 1);
  }

  void learn(std::size_t vocabulary, std::int64_t count_min) {
    for (const auto& [pair, places] : pairs_) offers_.push({places.count, pair});
    while (parts_.pieces.size() < vocabulary && !offers_.empty()) {
      const Offer best = offers_.top();
      offers_.pop();
      const std::int64_t count = pairs_[best.pair].count;
      // A stale entry can only be too high: when a count increased, the pair was queued again.
      if (count != best.count) {
        if (count > 0 && count < best.count) offers_.push({count, best.pair});
        continue;
      }
      if (count < std::max<std::int64_t>(count_min, 1)) return;
      merge(best.pair);
    }
  }

 private:
  void merge(std::uint64_t pair) {
    const auto left = static_cast<Token>(pair >> 32);
    const auto right = static_cast<Token>(pair);
    const std::string piece = parts_.pieces[left] + parts_.pieces[right];
    const auto [known, is_new] = tokens_.emplace(piece, static_cast<Token>(parts_.pieces.size()));
    if (is_new) parts_.pieces.push_back(piece);
    const Token result = known->second;
    parts_.merges.push_back({.left = left, .right = right, .result = result});
    std::vector<std::uint32_t> places = std::move(pairs_[pair].words);
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    changed_.clear();
    for (const std::uint32_t index : places) {
      count_pairs(index, -1);
      replace(words_[index].tokens, left, right, result);
      count_pairs(index, 1);
    }
    for (const auto& [touched, before] : changed_) {
      const std::int64_t now = pairs_[touched].count;
      if (now > before) offers_.push({now, touched});
    }
  }

  static void replace(std::vector<Token>& word, Token left, Token right, Token result) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const bool is_pair = i + 1 < word.size() && word[i] == left && word[i + 1] == right;
      word[kept++] = is_pair ? result : word[i];
      if (is_pair) ++i;
    }
    word.resize(kept);
  }

  void count_pairs(std::uint32_t index, int sign) {
    const Word& word = words_[index];
    for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i) {
      const std::uint64_t pair = key_of(word.tokens[i], word.tokens[i + 1]);
      PairPlaces& places = pairs_[pair];
      changed_.emplace(pair, places.count);
      places.count += sign * word.count;
      if (sign > 0 && (places.words.empty() || places.words.back() != index)) {
        places.words.push_back(index);
      }
    }
  }

  TokenizerParts& parts_;
  std::unordered_map<std::string, Token> tokens_;
  std::vector<Word> words_;
  std::unordered_map<std::uint64_t, PairPlaces> pairs_;
  std::unordered_map<std::uint64_t, std::int64_t> changed_;  // pairs with their previous counts
  std::priority_queue<Offer> offers_;
};

}  // namespace

void WordCounts::add(std::string_view text) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, first_piece(text, split_));
    text.remove_prefix(word.size());
    const auto known = counts_.find(word);
    if (known != counts_.end()) {
      ++known->second;
    } else {
      counts_.emplace(word, 1);
    }
  }
}

std::int64_t WordCounts::count_of(const std::string& word) const {
  const auto found = counts_.find(word);
  return found == counts_.end() ? 0 : found->second;
}

TokenizerParts train_bpe(const WordCounts& words, const BpeOptions& options) {
  TokenizerParts parts;
  parts.split = words.split();
  const std::string bytes = bytes_by_letter();
  if (options.vocabulary < options.specials.size() + bytes.size()) {
    throw Error(ErrorCode::InvalidInput, "a vocabulary of " + std::to_string(options.vocabulary) +
                                             " tokens does not hold the 256 bytes and " +
                                             std::to_string(options.specials.size()) +
                                             " special tokens");
  }
  for (const char byte : bytes) parts.pieces.emplace_back(1, byte);
  MergeLearner learner(parts);
  for (const auto& [word, count] : words.all()) learner.add(word, count);
  learner.learn(options.vocabulary - options.specials.size(), options.count_min);
  // Special tokens are not made by merges: they are inserted in front once the others are known.
  const auto shift = static_cast<Token>(options.specials.size());
  parts.pieces.insert(parts.pieces.begin(), options.specials.begin(), options.specials.end());
  for (Merge& merge : parts.merges) {
    merge = {merge.left + shift, merge.right + shift, merge.result + shift};
  }
  for (Token token = 0; token < shift; ++token) parts.specials.push_back(token);
  return parts;
}

}  // namespace trireme::data::tokenizer
