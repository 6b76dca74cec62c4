#include "trireme/data/table/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "trireme/base/error.h"
#include "trireme/base/nearest.h"

namespace trireme::data::table {

std::int64_t index_of(const Table& table, const std::string& column) {
  const auto& all = table.columns();
  const auto found = std::find(all.begin(), all.end(), column);
  if (found != all.end()) return found - all.begin();
  const auto meant = nearest(column, all);
  throw Error(ErrorCode::InvalidInput, table.name() + " has no column '" + column + "'" +
                                           (meant ? "; did you mean '" + *meant + "'?" : ""));
}

std::optional<float> number_of(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  float number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || !std::isfinite(number)) return std::nullopt;
  return number;
}

float number_in(const Table& table, std::int64_t row, std::int64_t column, const char* remedy) {
  const std::string_view text = table.field(row, column);
  if (const auto number = number_of(text)) return *number;
  throw Error(ErrorCode::Corrupt, table.place(row, column) + ": '" + std::string(text) +
                                      "' in column '" +
                                      table.columns()[static_cast<std::size_t>(column)] +
                                      "' is no finite number" + remedy);
}

std::vector<std::string> names_in(const Table& table, const RowNumbers& rows, std::int64_t column) {
  std::set<std::string_view> seen;
  for (const std::int64_t row : rows) seen.insert(table.field(row, column));
  std::vector<std::string> all(seen.begin(), seen.end());
  const auto is_number = [](const std::string& text) { return number_of(text).has_value(); };
  if (std::all_of(all.begin(), all.end(), is_number)) {
    std::stable_sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
      return *number_of(a) < *number_of(b);
    });
  }
  return all;
}

}  // namespace trireme::data::table
