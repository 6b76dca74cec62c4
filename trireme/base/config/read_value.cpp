#include "trireme/base/config/read_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "trireme/base/error.h"
#include "trireme/base/text/nearest.h"
#include "trireme/base/text/quantity.h"
#include "trireme/base/text/utf8.h"

namespace trireme::config {
namespace {

[[noreturn]] void refuse_type(const Value& value, std::string_view needed) {
  if (std::holds_alternative<std::monostate>(value.content)) {
    throw Error(ErrorCode::InvalidInput, "has no value; it needs " + std::string(needed));
  }
  refuse(value, "is " + type_of(value) + "; it needs " + std::string(needed));
}

template <class T>
const T& get_or_refuse(const Value& value, std::string_view needed) {
  if (const T* content = std::get_if<T>(&value.content)) return *content;
  refuse_type(value, needed);
}

}  // namespace

void refuse(const Value& value, std::string_view why) {
  throw Error(ErrorCode::InvalidInput, to_brief(value) + " " + std::string(why));
}

bool read_bool(const Value& value) {
  return get_or_refuse<bool>(value, "true or false");
}

std::int64_t read_integer(const Value& value) {
  if (const double* number = std::get_if<double>(&value.content)) {
    // Users write 1e6 for an integer; the message shows how to write it.
    if (std::trunc(*number) == *number && std::abs(*number) < 1e15) {
      const auto whole = static_cast<std::int64_t>(*number);
      refuse_type(value, "an integer, " + std::to_string(whole));
    }
  }
  return get_or_refuse<std::int64_t>(value, "an integer");
}

double read_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.content)) {
    return static_cast<double>(*integer);
  }
  const double number = get_or_refuse<double>(value, "a number");
  if (std::isnan(number)) refuse(value, "is not a number");
  return number;
}

float read_float(const Value& value) {
  const double number = read_number(value);
  const bool is_too_large = std::abs(number) > double{std::numeric_limits<float>::max()};
  if (is_too_large && std::isfinite(number)) refuse(value, "is too large for 32 bits");
  return static_cast<float>(number);
}

std::string read_text(const Value& value) {
  if (std::holds_alternative<std::monostate>(value.content)) return {};
  const std::string& text = get_or_refuse<std::string>(value, "text, in quotation marks");
  if (!is_utf8(text)) refuse(value, "is not UTF-8 text");
  return text;
}

std::string read_text_or_number(const Value& value) {
  const bool is_number = std::holds_alternative<std::int64_t>(value.content) ||
                         std::holds_alternative<double>(value.content);
  return is_number ? to_plain(value) : read_text(value);
}

Duration read_duration(const Value& value) {
  return parse_duration(get_or_refuse<std::string>(value, "a duration with its unit: \"5 s\""));
}

ByteSize read_byte_size(const Value& value) {
  if (const auto* count = std::get_if<std::int64_t>(&value.content)) {
    if (*count < 0) refuse(value, "is less than 0 B");
    return {static_cast<std::uint64_t>(*count)};
  }
  return parse_byte_size(get_or_refuse<std::string>(value, "a size with its unit: \"64 MiB\""));
}

List read_list(const Value& value) {
  if (std::holds_alternative<std::monostate>(value.content)) return {};
  return get_or_refuse<List>(value, "a list: [a, b]");
}

std::size_t read_name(const Value& value, const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + quote_toml(name);
  const std::string& text = get_or_refuse<std::string>(value, "one of " + all);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const auto meant = nearest(text, names);
  refuse(value, "is none of " + all + (meant ? "; did you mean " + quote_toml(*meant) + "?" : ""));
}

double shortest_as_double(float value) {
  if (!std::isfinite(value)) return static_cast<double>(value);
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double wide = 0;
  std::from_chars(text.data(), end, wide);
  return wide;
}

}  // namespace trireme::config
