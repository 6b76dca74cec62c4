#include "trireme/base/config/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "trireme/base/check.h"
#include "trireme/base/text/utf8.h"

namespace trireme::config {
namespace {

std::string number_toml(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (std::isnan(value)) return "nan";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct Writer {
  std::string operator()(std::monostate) const { return "nothing"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number_toml(value); }
  std::string operator()(const std::string& value) const { return quote_toml(value); }
  std::string operator()(const Other& value) const { return "(" + value.type + ")"; }
  std::string operator()(const List& list) const {
    std::string text = "[";
    for (const Value& item : list) {
      if (text.size() > 1) text += ", ";
      text += std::visit(*this, item.content);
      // Only the beginning is shown, so stop early: a malicious list could be very long.
      if (text.size() > size_max) break;
    }
    return text + "]";
  }

  std::size_t size_max;
};

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// The longest prefix of `text` of at most `size` bytes that does not split a character.
std::string_view whole_characters(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace

std::string type_of(const Value& value) {
  struct Name {
    std::string operator()(std::monostate) const { return "nothing"; }
    std::string operator()(bool) const { return "a boolean"; }
    std::string operator()(std::int64_t) const { return "an integer"; }
    std::string operator()(double) const { return "a floating-point number"; }
    std::string operator()(const std::string&) const { return "text"; }
    std::string operator()(const List&) const { return "a list"; }
    std::string operator()(const Other& other) const { return "a " + other.type; }
  };
  return std::visit(Name{}, value.content);
}

std::string to_toml(const Value& value) {
  TRIREME_CHECK(!std::holds_alternative<std::monostate>(value.content), "nothing has no text");
  TRIREME_CHECK(!std::holds_alternative<Other>(value.content), "no field holds ", type_of(value));
  return std::visit(Writer{std::string::npos}, value.content);
}

std::string to_brief(const Value& value) {
  constexpr std::size_t kShown = 60;
  if (const auto* text = std::get_if<std::string>(&value.content)) {
    const std::string_view shown = whole_characters(*text, kShown);
    return quote_toml(shown) + (shown.size() < text->size() ? "..." : "");
  }
  const std::string text = std::visit(Writer{kShown}, value.content);
  const std::string_view shown = whole_characters(text, kShown);
  return std::string(shown) + (shown.size() < text.size() ? "..." : "");
}

std::string to_plain(const Value& value) {
  if (std::holds_alternative<std::monostate>(value.content)) return "not set";
  const auto* text = std::get_if<std::string>(&value.content);
  return text != nullptr && !text->empty() ? *text : to_toml(value);
}

std::string quote_toml(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text.front();
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7F || length == 0) {
      // An invalid byte cannot be represented in TOML; write the replacement character instead.
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04X", length == 0 ? 0xFFFDu : unsigned{c});
      out += escape.data();
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + '"';
}

std::string key_toml(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), is_bare) ? std::string(key)
                                                                      : quote_toml(key);
}

std::string dotted_toml(std::string_view key) {
  const bool is_plain =
      std::all_of(key.begin(), key.end(), [](char c) { return c == '.' || is_bare(c); });
  return is_plain ? std::string(key) : quote_toml(key);
}

}  // namespace trireme::config
