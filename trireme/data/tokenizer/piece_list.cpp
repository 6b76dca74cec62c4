#include "trireme/data/tokenizer/piece_list.h"

#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/base/text/json_text.h"
#include "trireme/base/text/whole_number.h"
#include "trireme/data/tokenizer/byte_letters.h"

namespace trireme::data::tokenizer {
namespace {

// The largest vocabularies have a few hundred thousand tokens.
constexpr std::int64_t kTokensMax = std::int64_t{1} << 24;

}  // namespace

void PieceList::fail(const std::string& why) const {
  throw Error(ErrorCode::Corrupt, name_ + ": " + why);
}

void PieceList::add(const std::string& piece, std::int64_t token) {
  if (token < 0 || token >= kTokensMax) {
    fail("'" + piece + "' is token " + std::to_string(token));
  }
  const auto index = static_cast<std::size_t>(token);
  if (index >= parts_.pieces.size()) parts_.pieces.resize(index + 1);
  std::string& place = parts_.pieces[index];
  if (!place.empty() && place != piece) {
    fail("'" + place + "' and '" + piece + "' are both token " + std::to_string(token));
  }
  place = piece;
  tokens_[piece] = static_cast<Token>(token);
}

Token PieceList::token_of(const std::string& piece, const std::string& where) const {
  const auto found = tokens_.find(piece);
  if (found == tokens_.end()) fail(where + ": '" + piece + "' is not in the vocabulary");
  return found->second;
}

void PieceList::add_merge(std::string_view text, const std::string& where) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos || text.find(' ', blank + 1) != std::string_view::npos) {
    fail(where + ": '" + std::string(text) + "' is no merge of two");
  }
  add_merge(std::string(text.substr(0, blank)), std::string(text.substr(blank + 1)), where);
}

void PieceList::add_merge(const std::string& left, const std::string& right,
                          const std::string& where) {
  parts_.merges.push_back({.left = token_of(left, where),
                           .right = token_of(right, where),
                           .result = token_of(left + right, where)});
}

TokenizerParts PieceList::take() && {
  if (parts_.pieces.empty()) fail("a vocabulary of nothing");
  return std::move(parts_);
}

std::vector<std::pair<std::string, std::int64_t>> parse_pieces(std::string_view json,
                                                               const std::string& name) {
  try {
    const auto all = nlohmann::json::parse(json);
    std::vector<std::pair<std::string, std::int64_t>> pieces;
    for (const auto& [piece, token] : all.items()) {
      pieces.emplace_back(piece, whole_number<std::int64_t>(token, name));
    }
    return pieces;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Corrupt, name + ": " + json_reason(error.what()));
  }
}

void to_bytes_of_letters(TokenizerParts& parts, const std::string& name) {
  std::vector<bool> is_special(parts.pieces.size());
  for (const Token token : parts.specials) is_special[token] = true;
  for (std::size_t i = 0; i < parts.pieces.size(); ++i) {
    if (is_special[i]) continue;
    auto bytes = from_letters(parts.pieces[i]);
    if (!bytes) {
      throw Error(ErrorCode::Corrupt, name + ": token " + std::to_string(i) + ", '" +
                                          parts.pieces[i] + "', is not written in bytes");
    }
    parts.pieces[i] = std::move(*bytes);
  }
}

}  // namespace trireme::data::tokenizer
