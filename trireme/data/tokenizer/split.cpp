#include "trireme/data/tokenizer/split.h"

#include <limits>

#include "trireme/base/check.h"
#include "trireme/data/tokenizer/unicode.h"

namespace trireme::data::tokenizer {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

bool is_line_end(char32_t code) noexcept {
  return code == '\r' || code == '\n';
}

// The end of the run of characters of this category that begins at `at`.
std::size_t end_of_run(std::string_view text, std::size_t at, Category category,
                       std::size_t count_max = kAny) noexcept {
  for (std::size_t count = 0; at < text.size() && count < count_max; ++count) {
    const Character next = first_character(text.substr(at));
    if (next.category != category) break;
    at += next.size;
  }
  return at;
}

char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// Size in bytes of 's, 't, 're, 've, 'm, 'll or 'd at the beginning; 0 if there is none.
std::size_t contraction(std::string_view text, bool is_any_case) noexcept {
  if (text.size() < 2 || text[0] != '\'') return 0;
  // If case is ignored, a long s counts as an s.
  if (is_any_case && text.substr(1).starts_with("\xc5\xbf")) return 3;
  const auto letter = [&](std::size_t i) {
    return i >= text.size() ? '\0' : is_any_case ? lower(text[i]) : text[i];
  };
  switch (letter(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return letter(2) == 'e' ? 3 : 0;
    case 'l':
      return letter(2) == 'l' ? 3 : 0;
    default:
      return 0;
  }
}

// \s+(?!\S)|\s+ : a blank before a word belongs to the word.
std::size_t blanks(std::string_view text) noexcept {
  std::size_t end = 0, last = 0;
  while (end < text.size()) {
    const Character next = first_character(text.substr(end));
    if (next.category != Category::Space) return last == 0 ? end : last;
    last = end;
    end += next.size;
  }
  return end;
}

std::size_t gpt2_piece(std::string_view text) noexcept {
  if (const std::size_t size = contraction(text, false)) return size;
  const std::size_t begin = text[0] == ' ' ? 1 : 0;
  if (begin < text.size()) {
    const Category category = first_character(text.substr(begin)).category;
    if (category != Category::Space) return end_of_run(text, begin, category);
  }
  return blanks(text);
}

// \s*[\r\n]+ : up to the last line end in a run of blanks; 0 if it has none.
std::size_t lines(std::string_view text) noexcept {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(text.substr(at));
    if (next.category != Category::Space) break;
    at += next.size;
    if (is_line_end(next.code)) end = at;
  }
  return end;
}

std::size_t llama3_piece(std::string_view text, std::size_t digits) noexcept {
  if (const std::size_t size = contraction(text, true)) return size;
  const Character first = first_character(text);
  if (first.category == Category::Letter) return end_of_run(text, 0, Category::Letter);
  if (first.category == Category::Number) return end_of_run(text, 0, Category::Number, digits);
  const bool has_second = first.size < text.size();
  const Character second = has_second ? first_character(text.substr(first.size)) : Character{};
  if (has_second && second.category == Category::Letter && !is_line_end(first.code)) {
    return end_of_run(text, first.size, Category::Letter);
  }
  const bool is_blank_first = text[0] == ' ' && has_second && second.category == Category::Other;
  if (first.category == Category::Other || is_blank_first) {
    std::size_t end = end_of_run(text, is_blank_first ? 1 : 0, Category::Other);
    while (end < text.size() && is_line_end(static_cast<unsigned char>(text[end]))) ++end;
    return end;
  }
  const std::size_t end = lines(text);
  return end > 0 ? end : blanks(text);
}

}  // namespace

std::string pattern_of(Split split) {
  if (split == Split::Gpt2) {
    return R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  }
  TRIREME_CHECK(split == Split::Llama3 || split == Split::Qwen2, "a split by a pattern");
  return R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})" +
         std::string(split == Split::Llama3 ? "{1,3}" : "") +
         R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
}

std::size_t first_piece(std::string_view text, Split split) noexcept {
  switch (split) {
    case Split::Gpt2:
      return gpt2_piece(text);
    case Split::Llama3:
      return llama3_piece(text, 3);
    case Split::Qwen2:
      return llama3_piece(text, 1);
    case Split::Marks: {
      const std::size_t next = text.find(kMark, 1);
      return next == std::string_view::npos ? text.size() : next;
    }
    case Split::Whole:
      break;
  }
  return text.size();
}

}  // namespace trireme::data::tokenizer
