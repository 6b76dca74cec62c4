#include "trireme/base/config/override.h"

#include "trireme/base/config/toml_reader.h"

namespace trireme::config {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Value item_value(std::string_view text, bool is_text) {
  const bool is_quoted = text.starts_with('"') || text.starts_with('\'');
  if (is_text && !is_quoted) return {std::string(text)};
  if (auto value = read_toml_value(text)) return *std::move(value);
  // Text that is not a TOML value is kept as plain text, so that error messages can show it.
  return {std::string(text)};
}

}  // namespace

std::optional<Override> split_override(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view key = without_blanks(argument.substr(0, equals));
  if (key.empty()) return std::nullopt;
  const std::string_view text = without_blanks(argument.substr(equals + 1));
  return Override{.key = std::string(key), .text = std::string(text)};
}

Value override_value(std::string_view text, Shape shape) {
  if (text.empty()) return {};
  if (!shape.is_list) return item_value(text, shape.is_text);
  if (text.starts_with('[')) return item_value(text, false);
  List items;
  while (true) {
    const std::size_t comma = text.find(',');
    items.push_back(item_value(without_blanks(text.substr(0, comma)), shape.is_text));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return {std::move(items)};
}

}  // namespace trireme::config
