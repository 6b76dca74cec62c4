// What a tokenizer asks of a character: how long it is in UTF-8, and whether it is a letter, a
// number or blank by Unicode's tables.
//
// Threads: pure.
// Failure: none. A byte that begins no well-formed character stands for itself, and is Other.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trireme::data::tokenizer {

// \p{L}, \p{N} and \s of the patterns that people split texts by; and the rest.
enum class Category { Letter, Number, Space, Other };

Category category_of(char32_t code) noexcept;

struct Character {
  char32_t code = 0;
  std::size_t size = 1;  // bytes
  Category category = Category::Other;
};

// The first of a text. REQUIRES: it is not empty.
Character first_character(std::string_view text) noexcept;

void append_utf8(std::string& text, char32_t code);

}  // namespace trireme::data::tokenizer
