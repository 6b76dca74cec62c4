#include "trireme/train/evaluate/confusion_table.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "trireme/base/check.h"
#include "trireme/base/text/utf8.h"

namespace trireme::train {
namespace {

constexpr std::size_t kNameMax = 20;
constexpr std::size_t kHeadingMax = 10;

// The number of bytes of the character at this position; a byte of invalid UTF-8 is one character.
std::size_t character_size(const std::string& text, std::size_t at) {
  return std::max<std::size_t>(1, utf8_length(std::string_view(text).substr(at)));
}

std::size_t length_of(const std::string& text) {
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size(); at += character_size(text, at)) ++length;
  return length;
}

std::string cut(const std::string& text, std::size_t most) {
  if (length_of(text) <= most) return text;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < most; ++i) at += character_size(text, at);
  return text.substr(0, at) + "~";
}

std::size_t longest(const std::vector<std::string>& texts, std::size_t least, std::size_t most) {
  std::size_t length = least;
  for (const std::string& text : texts) length = std::max(length, length_of(text));
  return std::min(length, most);
}

// Cuts a name to at most `width` characters, and pads it with blanks to that width.
std::string left_aligned(const std::string& name, std::size_t width) {
  const std::string text = cut(name, width);
  return text + std::string(width - length_of(text), ' ');
}

std::string right_aligned(const std::string& name, std::size_t width) {
  const std::string text = cut(name, width);
  return std::string(width - length_of(text), ' ') + text;
}

}  // namespace

std::string class_table(const std::vector<std::string>& names,
                        const std::vector<ClassScore>& classes) {
  TRIREME_CHECK_EQ(names.size(), classes.size(), "names of classes");
  char figures[80];
  std::snprintf(figures, sizeof(figures), " %9s %9s %9s %9s\n", "precision", "recall", "f1",
                "count");
  std::string text = left_aligned("class", kNameMax) + figures;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ClassScore& one = classes[i];
    std::snprintf(figures, sizeof(figures), " %9.4f %9.4f %9.4f %9" PRId64 "\n", one.precision,
                  one.recall, one.f1, one.count);
    text += left_aligned(names[i], kNameMax) + figures;
  }
  return text;
}

std::string confusion_table(const std::vector<std::string>& names,
                            const std::vector<std::int64_t>& counts) {
  TRIREME_CHECK_EQ(counts.size(), names.size() * names.size(), "counts of a confusion matrix");
  constexpr const char* kCorner = "actual";
  const std::size_t label = longest(names, std::string(kCorner).size(), kNameMax);
  std::size_t column = longest(names, 6, kHeadingMax);
  for (const std::int64_t count : counts) {
    column = std::max(column, std::to_string(count).size());
  }
  std::string text = "confusion matrix\n" + std::string(label, ' ') + " predicted\n" +
                     left_aligned(kCorner, label);
  for (const std::string& name : names) {
    text += " " + right_aligned(cut(name, kHeadingMax), column);
  }
  for (std::size_t row = 0; row < names.size(); ++row) {
    text += "\n" + left_aligned(names[row], label);
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += " " + right_aligned(std::to_string(counts[row * names.size() + i]), column);
    }
  }
  return text + "\n";
}

}  // namespace trireme::train
