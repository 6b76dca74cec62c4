#include "trireme/data/sequence/plain_rows.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/tokenizer/unicode.h"

namespace trireme::data::sequence {
namespace {

constexpr std::size_t kCodes = 0x110000;

void check_window(std::int64_t first, std::int64_t count, std::int64_t all) {
  TRIREME_CHECK(first >= 0 && count >= 0 && first <= all - count, "tokens ", first, " to ",
                first + count, " of ", all);
}

}  // namespace

void ByteRow::read(std::int64_t first, std::int64_t count, std::int64_t* out) const {
  check_window(first, count, this->count());
  const std::byte* const from = file_.bytes().data() + first;
  std::transform(from, from + count, out,
                 [](std::byte byte) { return std::to_integer<std::int64_t>(byte); });
}

CharacterRow::CharacterRow(const std::filesystem::path& path, std::vector<std::string> characters)
    : file_(path), characters_(std::move(characters)) {
  const std::string_view text = text_of(file_.bytes());
  std::vector<bool> is_there(kCodes);
  for (std::size_t at = 0; at < text.size();) {
    const auto character = tokenizer::first_character(text.substr(at));
    if (character.size == 1 && character.code >= 0x80) {
      throw Error(ErrorCode::Corrupt, file_.name() + ": at byte " + std::to_string(at) +
                                          ": not UTF-8; data.unit = \"byte\" reads any file");
    }
    if (count_ % kIndexed == 0) places_.push_back(at);
    is_there[character.code] = true;
    ++count_;
    at += character.size;
  }
  if (characters_.empty()) {
    for (std::size_t code = 0; code < kCodes; ++code) {
      if (is_there[code]) {
        tokenizer::append_utf8(characters_.emplace_back(), static_cast<char32_t>(code));
      }
    }
  }
  token_of_.resize(kCodes);
  for (std::size_t token = 0; token < characters_.size(); ++token) {
    const char32_t code = tokenizer::first_character(characters_[token]).code;
    token_of_[code] = static_cast<std::uint32_t>(token);
    is_there[code] = false;
  }
  const auto strange = std::ranges::find(is_there, true);
  if (strange == is_there.end()) return;
  std::string character;
  tokenizer::append_utf8(character, static_cast<char32_t>(strange - is_there.begin()));
  throw Error(ErrorCode::InvalidInput,
              file_.name() + " has the character '" + character +
                  "', which is not in the vocabulary that the model was trained with");
}

void CharacterRow::read(std::int64_t first, std::int64_t count, std::int64_t* out) const {
  check_window(first, count, count_);
  if (count == 0) return;
  std::string_view text = text_of(file_.bytes());
  text.remove_prefix(places_[static_cast<std::size_t>(first / kIndexed)]);
  for (std::int64_t skipped = first % kIndexed; skipped > 0; --skipped) {
    text.remove_prefix(tokenizer::first_character(text).size);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const auto character = tokenizer::first_character(text);
    out[i] = token_of_[character.code];
    text.remove_prefix(character.size);
  }
}

std::vector<std::string> all_bytes() {
  std::vector<std::string> all;
  for (int byte = 0; byte < 256; ++byte) all.emplace_back(1, static_cast<char>(byte));
  return all;
}

}  // namespace trireme::data::sequence
