#include "trireme/data/table/input_columns.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/error.h"

namespace trireme::data::table {
namespace {

constexpr const char* kRemedy =
    ": fill the gap, leave the column out by data.inputs, or name it in data.categories";

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Those of a file where the settings say all.
std::vector<std::string> inputs_of(const Table& table, const TableConfig& config) {
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

}  // namespace

InputColumns::InputColumns(const Table& table, const RowNumbers& rows, const TableConfig& config) {
  for (const std::string& name : inputs_of(table, config)) {
    columns_.push_back(fit(table, rows, name, config));
    const Column& column = columns_.back();
    width_ += column.is_category ? std::ssize(column.categories) : 1;
  }
}

InputColumns::Column InputColumns::fit(const Table& table, const RowNumbers& rows,
                                       const std::string& name, const TableConfig& config) {
  Column column{.name = name, .is_category = is_in(config.categories, name)};
  const std::int64_t index = index_of(table, name);
  if (column.is_category) {
    const std::vector<std::string> names = names_in(table, rows, index);
    if (std::ssize(names) > kCategoriesMax) {
      throw Error(ErrorCode::InvalidInput,
                  "data.categories: column '" + name + "' has " + std::to_string(names.size()) +
                      " different texts, and a number each is too many: leave it out");
    }
    for (const std::string& each : names) {
      column.categories.emplace(each, std::ssize(column.categories));
    }
    return column;
  }
  if (!config.are_columns_standardized) return column;
  const auto count = static_cast<double>(rows.size());
  double sum = 0, squares = 0;
  for (const std::int64_t row : rows) sum += number_in(table, row, index, kRemedy);
  const double mean = sum / count;
  for (const std::int64_t row : rows) {
    const double from_mean = number_in(table, row, index, kRemedy) - mean;
    squares += from_mean * from_mean;
  }
  const double deviation = std::sqrt(squares / count);
  column.mean = static_cast<float>(mean);
  // A column that never changes says nothing, and becomes zero.
  column.deviation = deviation > 0 ? static_cast<float>(deviation) : 1.0F;
  return column;
}

std::vector<float> InputColumns::encode(const Table& table, const RowNumbers& rows) const {
  std::vector<std::int64_t> indices;
  for (const Column& column : columns_) indices.push_back(index_of(table, column.name));
  std::vector<float> all(rows.size() * static_cast<std::size_t>(width_));
  float* out = all.data();
  for (const std::int64_t row : rows) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      if (!column.is_category) {
        *out++ = (number_in(table, row, indices[i], kRemedy) - column.mean) / column.deviation;
        continue;
      }
      const auto found = column.categories.find(table.field(row, indices[i]));
      if (found != column.categories.end()) out[found->second] = 1;
      out += column.categories.size();
    }
  }
  return all;
}

}  // namespace trireme::data::table
