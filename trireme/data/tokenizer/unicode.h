// Properties of characters for tokenizers: their length in UTF-8, and whether they are letters,
// numbers or blanks in Unicode's tables.
//
// Thread safety: pure functions; any thread.
// Errors:        none. A byte that begins no well-formed character represents itself, with category
//                Other.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trireme::data::tokenizer {

// \p{L}, \p{N} and \s of the split patterns; and the rest.
enum class Category { Letter, Number, Space, Other };

Category category_of(char32_t code) noexcept;

struct Character {
  char32_t code = 0;
  std::size_t size = 1;  // bytes
  Category category = Category::Other;
};

// The first character of a text. REQUIRES: it is not empty.
Character first_character(std::string_view text) noexcept;

void append_utf8(std::string& text, char32_t code);

}  // namespace trireme::data::tokenizer
