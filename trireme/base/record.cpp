#include "trireme/base/record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "trireme/base/text/utf8.h"

namespace trireme {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  std::array<char, 8> buffer;
  std::snprintf(buffer.data(), buffer.size(), "\\u%04x", c);
  out += buffer.data();
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out += kReplacement;
    } else if (c < 0x20 || c == 0x7F || c == '"' || c == '\\') {
      append_escape(out, c);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out += '"';
}

// The shortest text that parses back to the same number.
std::string shortest(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return std::string(buffer.data(), end);
}

// Plain words are not quoted in terminal output. Text that could be mistaken for two fields, or
// that could move the terminal's cursor, is quoted.
bool is_plain(std::string_view text) {
  if (text.empty()) return false;
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text);
    if (length == 0 || c <= 0x20 || c == 0x7F || c == '"' || c == '\\' || c == '=') return false;
    text.remove_prefix(length);
  }
  return true;
}

void append_word(std::string& out, std::string_view text) {
  if (is_plain(text)) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

struct JsonValue {
  std::string& out;

  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { out += std::to_string(value); }
  void operator()(double value) const {
    if (!std::isfinite(value)) return append_quoted(out, shortest(value));
    const std::string digits = shortest(value);
    out += digits;
    // A reader that distinguishes integers from floating point must see the same type in every
    // line.
    if (digits.find_first_of(".e") == std::string::npos) out += ".0";
  }
  void operator()(const std::string& value) const { append_quoted(out, value); }
};

struct TextValue {
  std::string& out;

  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { out += std::to_string(value); }
  void operator()(double value) const { out += shortest(value); }
  void operator()(const std::string& value) const { append_word(out, value); }
};

}  // namespace

Record& Record::add(Field field) {
  fields_.push_back(std::move(field));
  return *this;
}

const Record::Value* Record::find(std::string_view key) const noexcept {
  for (const Field& field : fields_) {
    if (field.key == key) return &field.value;
  }
  return nullptr;
}

std::string Record::to_json() const {
  std::string out = "{";
  for (const Field& field : fields_) {
    // JSON readers disagree about duplicate keys; write the first one only, which find() also
    // returns.
    if (find(field.key) != &field.value) continue;
    if (out.size() > 1) out += ',';
    append_quoted(out, field.key);
    out += ':';
    std::visit(JsonValue{out}, field.value);
  }
  return out += '}';
}

std::string Record::to_text() const {
  std::string out;
  for (const Field& field : fields_) {
    if (!out.empty()) out += ' ';
    append_word(out, field.key);
    out += '=';
    std::visit(TextValue{out}, field.value);
  }
  return out;
}

}  // namespace trireme
