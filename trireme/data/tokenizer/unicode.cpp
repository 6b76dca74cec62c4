#include "trireme/data/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "trireme/base/text/utf8.h"

namespace trireme::data::tokenizer {
namespace {

struct Span {
  char32_t first;
  char32_t last;
};

#include "trireme/data/tokenizer/unicode_ranges.inc"

constexpr Span kSpaces[] = {{0x9, 0xD},       {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                            {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                            {0x205F, 0x205F}, {0x3000, 0x3000}};

constexpr bool is_in(std::span<const Span> spans, char32_t code) noexcept {
  const auto after = std::upper_bound(spans.begin(), spans.end(), code,
                                      [](char32_t c, const Span& span) { return c < span.first; });
  return after != spans.begin() && code <= std::prev(after)->last;
}

constexpr Category looked_up(char32_t code) noexcept {
  if (is_in(kSpaces, code)) return Category::Space;
  if (is_in(kLetters, code)) return Category::Letter;
  return is_in(kNumbers, code) ? Category::Number : Category::Other;
}

// Most characters of most texts are ASCII.
constexpr auto kAscii = [] {
  std::array<Category, 128> all{};
  for (char32_t code = 0; code < 128; ++code) all[code] = looked_up(code);
  return all;
}();

}  // namespace

Category category_of(char32_t code) noexcept {
  return code < kAscii.size() ? kAscii[code] : looked_up(code);
}

Character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {.code = byte(0), .size = 1, .category = kAscii[byte(0)]};
  const std::size_t size = utf8_length(text.substr(0, 4));
  if (size == 0) return {.code = byte(0), .size = 1, .category = Category::Other};
  // The first byte of an n-byte character has n ones and a zero before its own bits.
  char32_t code = byte(0) & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) code = code << 6 | (byte(i) & 0x3FU);
  return {.code = code, .size = size, .category = category_of(code)};
}

void append_utf8(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xFF00U >> (more + 1) & 0xFFU) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80U | (code >> (6 * i) & 0x3FU));
}

}  // namespace trireme::data::tokenizer
