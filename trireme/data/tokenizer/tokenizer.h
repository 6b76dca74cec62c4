// Tokenizer converts a text to tokens and back, exactly like the program that published its files:
// byte-pair encoding over bytes (GPT-2, Llama 3, Qwen 2), or over characters, with byte tokens for
// characters without a token (Llama 2, Mistral).
//
// Semantics:     special tokens are found first, by their exact text, the longest if several match.
//                The text between them is split into pieces (see split.h), and tokens are merged
//                within each piece (see merges.h). decode() of encode() returns the text: always
//                over bytes; over characters if every character is in the vocabulary or can be
//                written in byte tokens.
// Thread safety: immutable; any thread. A WordCache belongs to one thread.
// Errors:        the constructor throws InvalidInput if the parts do not match each other.

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trireme/data/tokenizer/merges.h"
#include "trireme/data/tokenizer/split.h"

namespace trireme::data::tokenizer {

// Caches the tokens of words, because most words of a text are repeated.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>()(text);
  }
};
using WordCache = std::unordered_map<std::string, std::vector<Token>, TextHash, std::equal_to<>>;

// Whether a blank is added before a text that has none, so that its first word is encoded like
// others.
enum class Prefix { Never, First, Always, EvenTwice };

struct TokenizerParts {
  // The text of token i. Over bytes: these bytes. Over characters: as in the file, with U+2581 for
  // a blank.
  std::vector<std::string> pieces = {};
  std::vector<Merge> merges = {};
  std::vector<Token> specials = {};
  bool is_over_bytes = true;
  Split split = Split::Gpt2;
  Prefix prefix = Prefix::Never;
  bool has_byte_tokens = false;      // over characters: <0x0A> is a line end
  bool is_whole_word_first = false;  // a word that is a token is not split into others
  std::optional<Token> unknown = {};
  bool is_unknown_fused = false;  // consecutive unknown tokens become one
  // Tokens that are added around a complete text.
  std::vector<Token> before = {};
  std::vector<Token> after = {};
};

class Tokenizer {
 public:
  explicit Tokenizer(TokenizerParts parts);

  const TokenizerParts& parts() const noexcept { return parts_; }
  std::size_t size() const noexcept { return parts_.pieces.size(); }
  std::optional<Token> find(std::string_view piece) const;

  // Appends the tokens of a text. If it continues another text of the same document, no blank is
  // added before it.
  void encode(std::string_view text, std::vector<Token>& out, WordCache& cache,
              bool is_continued = false) const;
  std::vector<Token> encode(std::string_view text) const;

  // The bytes of one token. REQUIRES: it is below size().
  std::string text_of(Token token) const;
  // The bytes of all tokens, in order.
  std::vector<std::string> texts() const;
  // Without the blank that encode() added before the text.
  std::string decode(const std::vector<Token>& tokens) const;

 private:
  void index();
  const std::string* special_at(std::string_view text, Token& token) const;
  void encode_plain(std::string_view text, std::vector<Token>& out, WordCache& cache,
                    bool is_prefixed) const;
  std::string marked(std::string_view text, bool is_prefixed) const;
  void encode_word(std::string_view word, std::vector<Token>& out) const;
  void add_characters(std::string_view word, std::vector<Token>& out) const;
  bool add_bytes(std::string_view character, std::vector<Token>& out) const;

  TokenizerParts parts_;
  Merges merges_;
  std::unordered_map<std::string, Token, TextHash, std::equal_to<>> by_piece_;
  std::array<std::optional<Token>, 256> by_byte_;
  std::array<std::vector<Token>, 256> specials_;  // by first byte, the longest first
};

}  // namespace trireme::data::tokenizer
