#include "trireme/data/tokenizer/tokenizer.h"

#include <algorithm>
#include <charconv>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/tokenizer/unicode.h"

namespace trireme::data::tokenizer {
namespace {

// A cache of this size holds the words of any language; the rest are names and typing errors.
constexpr std::size_t kCachedWordsMax = 1 << 16;
constexpr std::size_t kCachedSizeMax = 64;

// The byte that a piece such as "<0x0A>" represents.
std::optional<unsigned char> byte_in(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  unsigned value = 0;
  const auto read = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  if (read.ec != std::errc() || read.ptr != piece.data() + 5) return std::nullopt;
  return static_cast<unsigned char>(value);
}

}  // namespace

Tokenizer::Tokenizer(TokenizerParts parts) : parts_(std::move(parts)), merges_(parts_.merges) {
  const auto check = [&](Token token) {
    if (token < size()) return;
    throw Error(ErrorCode::InvalidInput,
                "token " + std::to_string(token) + " of a tokenizer of " + std::to_string(size()));
  };
  for (const Merge& merge : parts_.merges) {
    for (const Token token : {merge.left, merge.right, merge.result}) check(token);
  }
  for (const auto* list : {&parts_.specials, &parts_.before, &parts_.after}) {
    for (const Token token : *list) check(token);
  }
  if (parts_.unknown) check(*parts_.unknown);
  index();
}

void Tokenizer::index() {
  by_piece_.reserve(size());
  std::vector<bool> is_special(size());
  for (const Token token : parts_.specials) is_special[token] = true;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::string& piece = parts_.pieces[i];
    const auto token = static_cast<Token>(i);
    // A number without a piece, or one that is used only if its name occurs in a text.
    if (piece.empty() || (is_special[i] && parts_.is_over_bytes)) continue;
    by_piece_.emplace(piece, token);
    if (parts_.is_over_bytes && piece.size() == 1) {
      by_byte_[static_cast<unsigned char>(piece[0])] = token;
    } else if (const auto byte = byte_in(piece); byte && parts_.has_byte_tokens) {
      by_byte_[*byte] = token;
    }
  }
  for (const Token token : parts_.specials) {
    const std::string& name = parts_.pieces[token];
    if (!name.empty()) specials_[static_cast<unsigned char>(name[0])].push_back(token);
  }
  for (auto& list : specials_) {
    std::ranges::stable_sort(list, std::greater<>(),
                             [&](Token token) { return parts_.pieces[token].size(); });
  }
}

std::optional<Token> Tokenizer::find(std::string_view piece) const {
  for (const Token token : parts_.specials) {
    if (parts_.pieces[token] == piece) return token;
  }
  const auto found = by_piece_.find(piece);
  return found == by_piece_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* Tokenizer::special_at(std::string_view text, Token& token) const {
  for (const Token candidate : specials_[static_cast<unsigned char>(text[0])]) {
    const std::string& name = parts_.pieces[candidate];
    if (!text.starts_with(name)) continue;
    token = candidate;
    return &name;
  }
  return nullptr;
}

void Tokenizer::encode(std::string_view text, std::vector<Token>& out, WordCache& cache,
                       bool is_continued) const {
  std::size_t begin = 0;
  const auto flush = [&](std::size_t end) {
    if (end <= begin) return;
    // The text after a special token is treated as a new text, unless only the first is prefixed.
    const bool is_start = begin == 0;
    const bool is_prefixed =
        parts_.prefix == Prefix::First ? is_start && !is_continued : !(is_start && is_continued);
    encode_plain(text.substr(begin, end - begin), out, cache, is_prefixed);
  };
  for (std::size_t at = 0; at < text.size();) {
    Token token = 0;
    const std::string* const name = special_at(text.substr(at), token);
    if (name == nullptr) {
      ++at;
      continue;
    }
    flush(at);
    out.push_back(token);
    at += name->size();
    begin = at;
  }
  flush(text.size());
}

std::vector<Token> Tokenizer::encode(std::string_view text) const {
  std::vector<Token> out;
  WordCache cache;
  encode(text, out, cache);
  return out;
}

void Tokenizer::encode_plain(std::string_view text, std::vector<Token>& out, WordCache& cache,
                             bool is_prefixed) const {
  const bool is_changed = !parts_.is_over_bytes || parts_.prefix != Prefix::Never;
  const std::string changed = is_changed ? marked(text, is_prefixed) : std::string();
  if (is_changed) text = changed;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, first_piece(text, parts_.split));
    text.remove_prefix(word.size());
    if (const auto known = cache.find(word); known != cache.end()) {
      out.insert(out.end(), known->second.begin(), known->second.end());
      continue;
    }
    const std::size_t before = out.size();
    encode_word(word, out);
    if (cache.size() >= kCachedWordsMax || word.size() > kCachedSizeMax) continue;
    cache.emplace(word, std::vector(out.begin() + static_cast<std::ptrdiff_t>(before), out.end()));
  }
}

std::string Tokenizer::marked(std::string_view text, bool is_prefixed) const {
  std::string changed;
  const std::string_view blank = parts_.is_over_bytes ? " " : kMark;
  const bool has_blank = text.starts_with(' ') || text.starts_with(kMark);
  if (parts_.prefix == Prefix::Never || (has_blank && parts_.prefix != Prefix::EvenTwice)) {
    is_prefixed = false;
  }
  if (is_prefixed) changed += blank;
  for (const char letter : text) {
    if (letter == ' ') {
      changed += blank;
    } else {
      changed += letter;
    }
  }
  return changed;
}

void Tokenizer::encode_word(std::string_view word, std::vector<Token>& out) const {
  if (parts_.is_whole_word_first) {
    if (const auto found = by_piece_.find(word); found != by_piece_.end()) {
      out.push_back(found->second);
      return;
    }
  }
  std::vector<Token> tokens;
  if (parts_.is_over_bytes) {
    for (const char letter : word) {
      const auto token = by_byte_[static_cast<unsigned char>(letter)];
      if (token) tokens.push_back(*token);
    }
  } else {
    add_characters(word, tokens);
  }
  merges_.apply(tokens);
  out.insert(out.end(), tokens.begin(), tokens.end());
}

void Tokenizer::add_characters(std::string_view word, std::vector<Token>& out) const {
  bool was_unknown = false;
  while (!word.empty()) {
    const std::string_view character = word.substr(0, first_character(word).size);
    word.remove_prefix(character.size());
    bool is_unknown = false;
    if (const auto found = by_piece_.find(character); found != by_piece_.end()) {
      out.push_back(found->second);
    } else if (!add_bytes(character, out) && parts_.unknown) {
      is_unknown = true;
      if (!(was_unknown && parts_.is_unknown_fused)) out.push_back(*parts_.unknown);
    }
    was_unknown = is_unknown;
  }
}

// Uses byte tokens only if all bytes of the character have one.
bool Tokenizer::add_bytes(std::string_view character, std::vector<Token>& out) const {
  const auto token_of = [&](char byte) { return by_byte_[static_cast<unsigned char>(byte)]; };
  if (!std::ranges::all_of(character, [&](char byte) { return token_of(byte).has_value(); })) {
    return false;
  }
  for (const char byte : character) out.push_back(*token_of(byte));
  return true;
}

std::string Tokenizer::text_of(Token token) const {
  TRIREME_CHECK(token < size(), "token ", token, " of ", size());
  const std::string& piece = parts_.pieces[token];
  if (parts_.is_over_bytes) return piece;
  if (const auto byte = byte_in(piece); byte && parts_.has_byte_tokens) {
    return {static_cast<char>(*byte)};
  }
  std::string text;
  for (std::size_t at = 0; at < piece.size();) {
    const bool is_mark = std::string_view(piece).substr(at).starts_with(kMark);
    text += is_mark ? ' ' : piece[at];
    at += is_mark ? kMark.size() : 1;
  }
  return text;
}

std::vector<std::string> Tokenizer::texts() const {
  std::vector<std::string> all;
  all.reserve(size());
  for (std::size_t token = 0; token < size(); ++token) {
    all.push_back(text_of(static_cast<Token>(token)));
  }
  return all;
}

std::string Tokenizer::decode(const std::vector<Token>& tokens) const {
  std::string text;
  for (const Token token : tokens) text += text_of(token);
  const bool has_prefix = !parts_.is_over_bytes && parts_.prefix != Prefix::Never;
  if (has_prefix && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

}  // namespace trireme::data::tokenizer
