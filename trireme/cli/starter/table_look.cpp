#include "trireme/cli/starter/table_look.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <set>

#include "trireme/base/error.h"
#include "trireme/data/table/csv_file.h"
#include "trireme/data/table/fields.h"
#include "trireme/data/table/json_lines.h"
#include "trireme/data/table/missing.h"

namespace trireme::cli::starter {
namespace {

namespace fs = std::filesystem;
using data::table::Table;

constexpr std::size_t kSizeMax = std::size_t{16} << 20;
// A number with more different values is a quantity; with fewer it may be a class.
constexpr std::size_t kClassNumbersMax = 20;
// A text with more different values is more likely a description than a category.
constexpr std::size_t kCategoriesMax = 100;
constexpr std::size_t kClassesMax = 1000;

std::string beginning_of(const fs::path& file, bool& is_whole) {
  std::ifstream in(file, std::ios::binary);
  std::string text(kSizeMax, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (!in && !in.eof())) {
    throw Error(ErrorCode::NotFound, file.string() + " cannot be read");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  is_whole = text.size() < kSizeMax;
  if (!is_whole) text.resize(text.rfind('\n') + 1);
  return text;
}

// The character that occurs most often in the first line, outside quotation marks.
char guess_delimiter(std::string_view text) {
  constexpr std::string_view kAll = ",;\t|";
  std::size_t counts[kAll.size()] = {};
  bool is_quoted = false;
  for (const char c : text.substr(0, text.find('\n'))) {
    if (c == '"') is_quoted = !is_quoted;
    const std::size_t index = is_quoted ? kAll.npos : kAll.find(c);
    if (index != kAll.npos) ++counts[index];
  }
  return kAll[static_cast<std::size_t>(std::ranges::max_element(counts) - counts)];
}

Column look_at_column(const Table& table, std::int64_t index) {
  static const data::table::Missing missing{data::table::TableConfig{}};
  Column column{.name = table.columns()[static_cast<std::size_t>(index)]};
  std::set<std::string_view> seen;
  std::optional<double> last;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view field = table.field(row, index);
    if (missing.is_missing(field)) {
      ++column.missing;
      continue;
    }
    seen.insert(field);
    const auto number = data::table::number_of(field);
    column.is_number &= number.has_value();
    column.is_whole &= number && *number == std::floor(*number);
    column.is_counter &= number && (!last || *number == *last + 1);
    last = number;
  }
  column.different = seen.size();
  return column;
}

std::string why_left_out(const TableLook& table, const Column& column) {
  if (column.different == 0) return "no values";
  if (column.different == 1) return "one value only";
  if (column.is_counter && column.missing == 0 && table.rows > 2) return "numbers the rows";
  if (!column.is_number && column.different > kCategoriesMax) {
    return std::to_string(column.different) + " different texts";
  }
  return {};
}

void check_classes(const TableLook& table, const Column& target) {
  const auto present = static_cast<std::size_t>(table.rows - target.missing);
  if (target.different < 2) {
    throw Error(ErrorCode::InvalidInput, "column \"" + target.name + "\" has " +
                                             (target.different == 0 ? "no" : "only one") +
                                             " value; choose another --target");
  }
  if (target.different <= kClassesMax && (2 * target.different <= present || present < 10)) return;
  throw Error(ErrorCode::InvalidInput, "column \"" + target.name + "\" has " +
                                           std::to_string(target.different) +
                                           " different values in " + std::to_string(present) +
                                           " rows, too many for classes; choose another --target" +
                                           (target.is_number ? ", or --predict number" : ""));
}

}  // namespace

const Column& TableLook::column(const std::string& name) const {
  const auto found = std::ranges::find(columns, name, &Column::name);
  if (found != columns.end()) return *found;
  std::string all;
  for (const Column& one : columns) all += (all.empty() ? "" : ", ") + one.name;
  throw Error(ErrorCode::InvalidInput,
              "there is no column \"" + name + "\"; the columns are: " + all);
}

TableLook look_at_table(const fs::path& file) {
  TableLook look;
  std::string text = beginning_of(file, look.is_whole);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && text[first] == '{';
  look.kind = is_json ? "json_lines" : "csv";
  if (!is_json) look.delimiter = guess_delimiter(text);
  const Table table =
      is_json ? data::table::parse_json_lines(text, file.string())
              : data::table::parse_csv(std::move(text), file.string(), look.delimiter.front());
  look.rows = table.rows();
  if (look.rows == 0) throw Error(ErrorCode::InvalidInput, file.string() + " has no rows");
  for (std::int64_t i = 0; i < std::ssize(table.columns()); ++i) {
    look.columns.push_back(look_at_column(table, i));
  }
  if (look.columns.size() < 2) {
    throw Error(ErrorCode::InvalidInput,
                file.string() + " has one column, \"" + look.columns.front().name +
                    "\"; a table has a column to predict and others to predict it from");
  }
  return look;
}

Predicted guess_predicted(const Column& target) {
  const bool is_quantity =
      target.is_number && (!target.is_whole || target.different > kClassNumbersMax);
  return is_quantity ? Predicted::Number : Predicted::Class;
}

TablePlan plan_table(const TableLook& table, const std::string& target, Predicted predicted) {
  const Column& wanted = table.column(target);
  TablePlan plan{.target = target, .predicted = predicted};
  if (predicted == Predicted::Class) {
    check_classes(table, wanted);
    plan.classes = wanted.different;
  } else if (!wanted.is_number || wanted.different == 0) {
    throw Error(ErrorCode::InvalidInput,
                "column \"" + target + "\" holds texts, not numbers; use --predict class");
  }
  for (const Column& column : table.columns) {
    if (column.name == target) continue;
    if (const std::string why = why_left_out(table, column); !why.empty()) {
      plan.left_out.push_back(column.name + " (" + why + ")");
      continue;
    }
    plan.inputs.push_back(column.name);
    if (!column.is_number) plan.categories.push_back(column.name);
    if (column.missing > 0) plan.missing = "mean";
  }
  if (plan.inputs.empty()) {
    throw Error(ErrorCode::InvalidInput, "no column can be used to predict \"" + target + "\"");
  }
  // A missing target cannot be filled in.
  if (wanted.missing > 0) plan.missing = "drop";
  return plan;
}

}  // namespace trireme::cli::starter
