#include "trireme/data/table/input_columns.h"

#include <algorithm>
#include <set>

#include "trireme/base/error.h"

namespace trireme::data::table {
namespace {

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> input_names(const Table& table, const TableConfig& config) {
  std::vector<std::string> all = config.inputs;
  if (all.empty()) {
    for (const std::string& column : table.columns()) {
      if (!is_in(config.targets, column)) all.push_back(column);
    }
  }
  if (all.empty()) throw Error(ErrorCode::InvalidInput, table.name() + " has no input columns");
  for (const std::string& name : config.categories) {
    if (is_in(all, name)) continue;
    index_of(table, name);
    throw Error(ErrorCode::InvalidInput, "data.categories: '" + name + "' is no input column");
  }
  return all;
}

InputColumns::InputColumns(const Table& table, const RowNumbers& rows, const TableConfig& config)
    : missing_(config) {
  for (const std::string& name : input_names(table, config)) {
    columns_.push_back(fit(table, rows, name, config));
    width_ += columns_.back().width();
  }
}

InputColumns::InputColumns(std::vector<InputColumn> columns, Missing missing)
    : missing_(std::move(missing)), columns_(std::move(columns)) {
  for (const InputColumn& column : columns_) width_ += column.width();
}

std::vector<std::string> InputColumns::names() const {
  std::vector<std::string> all;
  for (const InputColumn& column : columns_) all.push_back(column.name);
  return all;
}

InputColumn InputColumns::fit(const Table& table, const RowNumbers& rows, const std::string& name,
                              const TableConfig& config) const {
  InputColumn column{.name = name, .is_category = is_in(config.categories, name)};
  if (!column.is_category) {
    fit_numbers(column, table, rows, config.are_columns_standardized);
    return column;
  }
  const std::int64_t index = index_of(table, name);
  std::set<std::string_view> texts;
  for (const std::int64_t row : rows) texts.insert(missing_.category(table.field(row, index)));
  if (std::ssize(texts) > kCategoriesMax) {
    throw Error(ErrorCode::InvalidInput,
                "data.categories: column '" + name + "' has " + std::to_string(texts.size()) +
                    " categories; one input per category is supported up to " +
                    std::to_string(kCategoriesMax) +
                    "; remove the column from data.categories and data.inputs");
  }
  for (const std::string& each : sorted_names(texts)) {
    column.categories.emplace(each, std::ssize(column.categories));
  }
  return column;
}

void InputColumns::fit_numbers(InputColumn& column, const Table& table, const RowNumbers& rows,
                               bool is_standardized) const {
  const std::int64_t index = index_of(table, column.name);
  std::vector<double> present;
  Moments moments;
  for (const std::int64_t row : rows) {
    if (missing_.is_missing(table.field(row, index))) continue;
    present.push_back(number_in(table, row, index, kInputRemedy));
    moments.add(present.back());
  }
  if (is_standardized) column.standard = Standard::of(moments);
  // Values may be missing only in the rows used for evaluation.
  column.fill = missing_.fill_of(std::move(present));
}

double InputColumns::fill_of_row(const InputColumn& column, const Table& table,
                                 std::int64_t row) const {
  if (column.fill) return *column.fill;
  // A column without any number has no mean.
  const bool has_mean = missing_.setting() != "mean" && missing_.setting() != "median";
  throw Error(ErrorCode::InvalidInput,
              table.line_of(row) + ": column \"" + column.name +
                  "\" has no value, and data.missing = \"" + missing_.setting() +
                  "\" gives no number for it. Use " + (has_mean ? "\"mean\", \"median\", " : "") +
                  "a number or \"drop\", or leave the column out of data.inputs.");
}

std::vector<float> InputColumns::encode(const Table& table, const RowNumbers& rows,
                                        const char* remedy) const {
  std::vector<std::int64_t> indices;
  for (const InputColumn& column : columns_) indices.push_back(index_of(table, column.name));
  std::vector<float> all(rows.size() * static_cast<std::size_t>(width_));
  float* out = all.data();
  for (const std::int64_t row : rows) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const InputColumn& column = columns_[i];
      if (!column.is_category) {
        const bool is_gap = missing_.is_missing(table.field(row, indices[i]));
        const double number =
            is_gap ? fill_of_row(column, table, row) : number_in(table, row, indices[i], remedy);
        *out++ = static_cast<float>(column.standard.apply(number));
        continue;
      }
      const auto found = column.categories.find(missing_.category(table.field(row, indices[i])));
      if (found != column.categories.end()) out[found->second] = 1;
      out += column.categories.size();
    }
  }
  return all;
}

std::vector<std::string> InputColumns::unknown_categories(const Table& table,
                                                          const RowNumbers& rows) const {
  std::vector<std::string> messages;
  for (const InputColumn& column : columns_) {
    if (!column.is_category) continue;
    const std::int64_t index = index_of(table, column.name);
    const auto is_unknown = [&](std::int64_t row) {
      return !column.categories.contains(missing_.category(table.field(row, index)));
    };
    const auto count = std::count_if(rows.begin(), rows.end(), is_unknown);
    if (count == 0) continue;
    const std::int64_t first = *std::find_if(rows.begin(), rows.end(), is_unknown);
    messages.push_back(table.line_of(first) + ": category \"" +
                       std::string(missing_.category(table.field(first, index))) +
                       "\" of column \"" + column.name +
                       "\" is not in the training data and is encoded as zeros (" +
                       std::to_string(count) + " of " + std::to_string(rows.size()) +
                       " rows have such a category).");
  }
  return messages;
}

}  // namespace trireme::data::table
