#include "trireme/base/config/dotted_key.h"

namespace trireme::config {

std::vector<std::string> tables_of(std::string_view key) {
  std::vector<std::string> tables;
  bool is_quoted = false;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '\\') {
      ++i;
    } else if (key[i] == '"') {
      is_quoted = !is_quoted;
    } else if (key[i] == '.' && !is_quoted) {
      tables.emplace_back(key.substr(0, i));
    }
  }
  return tables;
}

std::string parent_of(std::string_view key) {
  const auto tables = tables_of(key);
  return tables.empty() ? "" : tables.back();
}

std::string leaf_of(std::string_view key) {
  const auto tables = tables_of(key);
  return std::string(tables.empty() ? key : key.substr(tables.back().size() + 1));
}

}  // namespace trireme::config
