// PieceList collects the pieces and merges of a tokenizer's files and rejects invalid ones: widely
// spaced numbers, two pieces with one number, merges of unknown pieces.
//
// Thread safety: one thread.
// Errors:        Corrupt, with the name of the file.

#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trireme/data/tokenizer/tokenizer.h"

namespace trireme::data::tokenizer {

class PieceList {
 public:
  explicit PieceList(std::string name) : name_(std::move(name)) {}

  // Adding the same piece and token again has no effect.
  void add(const std::string& piece, std::int64_t token);
  // "left right", of pieces that were added before, like the merged piece.
  void add_merge(std::string_view text, const std::string& where);
  void add_merge(const std::string& left, const std::string& right, const std::string& where);

  TokenizerParts take() &&;

 private:
  Token token_of(const std::string& piece, const std::string& where) const;
  [[noreturn]] void fail(const std::string& why) const;

  std::string name_;
  TokenizerParts parts_;
  std::unordered_map<std::string, Token> tokens_;
};

// {"piece": number, ...}
std::vector<std::pair<std::string, std::int64_t>> parse_pieces(std::string_view json,
                                                               const std::string& name);

// Converts pieces written in letters (see byte_letters.h) to bytes; special pieces do not change.
void to_bytes_of_letters(TokenizerParts& parts, const std::string& name);

}  // namespace trireme::data::tokenizer
