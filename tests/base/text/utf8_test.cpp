// Goal:   exactly the well-formed UTF-8 sequences are accepted.
// Method: every code point is encoded and accepted; each class of ill-formed bytes is refused;
//         nothing is read past the end (sanitizers check exact buffers).

#include "trireme/base/text/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace trireme {
namespace {

std::string encode(unsigned point) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3F)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xC0 | (point >> 6)), tail(0)};
  if (point < 0x10000) return {static_cast<char>(0xE0 | (point >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (point >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, AcceptsEveryCharacterAndNoSurrogate) {
  for (unsigned point = 0; point <= 0x10FFFF; ++point) {
    const std::string text = encode(point);
    const bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
    ASSERT_EQ(utf8_length(text), is_surrogate ? 0 : text.size()) << point;
  }
}

TEST(Utf8, RefusesTruncatedSequences) {
  for (unsigned point : {0x80u, 0x7FFu, 0x800u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    const std::string whole = encode(point);
    for (std::size_t size = 1; size < whole.size(); ++size) {
      EXPECT_EQ(utf8_length(std::string(whole, 0, size)), 0u) << point << " " << size;
      EXPECT_EQ(utf8_length(std::string(whole, 0, size) + "a"), 0u) << point << " " << size;
    }
  }
}

TEST(Utf8, RefusesOverlongAndTooLarge) {
  for (const char* text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF"}) {
    EXPECT_EQ(utf8_length(text), 0u);
    EXPECT_FALSE(is_utf8(std::string("a") + text));
  }
}

TEST(Utf8, ValidatesWholeTexts) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("grüße 漢字 🚣"));
  EXPECT_TRUE(is_utf8(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace trireme
