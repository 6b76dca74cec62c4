#include "trireme/data/table/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "trireme/base/error.h"
#include "trireme/base/text/nearest.h"

namespace trireme::data::table {
namespace {

constexpr std::size_t kColumnsShown = 20;

// A file that is read with the wrong delimiter has one column, whose name holds all the others.
std::string columns_text(const std::vector<std::string>& columns) {
  std::string all;
  for (std::size_t i = 0; i < std::min(kColumnsShown, columns.size()); ++i) {
    all += (i == 0 ? "" : ", ") + columns[i];
  }
  if (columns.size() > kColumnsShown) all += ", ...";
  const bool is_undivided =
      columns.size() == 1 && columns.front().find_first_of(",;\t|") != std::string::npos;
  return all + (is_undivided ? ". Set data.delimiter if another character separates them." : ".");
}

}  // namespace

std::int64_t index_of(const Table& table, const std::string& column) {
  const auto& all = table.columns();
  const auto found = std::find(all.begin(), all.end(), column);
  if (found == all.end()) require_columns(table, {column});
  return found - all.begin();
}

void require_columns(const Table& table, const std::vector<std::string>& columns) {
  const auto& all = table.columns();
  std::vector<std::string> absent;
  std::set<std::string_view> named;
  for (const std::string& column : columns) {
    if (std::find(all.begin(), all.end(), column) != all.end()) continue;
    if (!named.insert(column).second) continue;
    const auto meant = nearest(column, all);
    absent.push_back("'" + column + "'" + (meant ? " (did you mean '" + *meant + "'?)" : ""));
  }
  if (absent.empty()) return;
  std::string text = absent.size() == 1 ? " has no column " : " has no columns ";
  for (const std::string& one : absent) text += (&one == &absent.front() ? "" : ", ") + one;
  throw Error(ErrorCode::InvalidInput,
              table.name() + text + "; its columns are: " + columns_text(all));
}

std::optional<double> number_of(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  constexpr double kMost = std::numeric_limits<float>::max();
  // NaN fails the comparison too.
  if (!is_whole || !(std::abs(number) <= kMost)) return std::nullopt;
  return number;
}

double number_in(const Table& table, std::int64_t row, std::int64_t column, const char* remedy) {
  const std::string_view text = table.field(row, column);
  if (const auto number = number_of(text)) return *number;
  throw Error(ErrorCode::InvalidInput, table.line_of(row) + ": expected a number in column \"" +
                                           table.columns()[static_cast<std::size_t>(column)] +
                                           "\", found \"" + std::string(text) + "\". " + remedy);
}

std::vector<std::string> sorted_names(const std::set<std::string_view>& texts) {
  std::vector<std::string> all(texts.begin(), texts.end());
  const auto is_number = [](const std::string& text) { return number_of(text).has_value(); };
  if (std::all_of(all.begin(), all.end(), is_number)) {
    std::stable_sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
      return *number_of(a) < *number_of(b);
    });
  }
  return all;
}

}  // namespace trireme::data::table
