// InputColumns encodes the fields of a row as the numbers that a model receives.
//
// Semantics:     everything about a column is learned from the training rows. A column of numbers
//                is one number, optionally standardized. A column of categories is one-hot encoded;
//                a category that is not in the training rows is all zeros, and
//                unknown_categories() reports it. Missing defines what is
//                used for a field without a value.
// Thread safety: immutable; any thread.
// Errors:        InvalidInput for a column that does not exist, for a category column that is not
//                an input or has more than kCategoriesMax categories, and for a field that is not a
//                finite number.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trireme/data/standard.h"
#include "trireme/data/table/fields.h"
#include "trireme/data/table/missing.h"
#include "trireme/data/table/table_config.h"

namespace trireme::data::table {

inline constexpr std::int64_t kCategoriesMax = 4096;

// All columns of a file, if the settings select all.
std::vector<std::string> input_names(const Table& table, const TableConfig& config);

struct InputColumn {
  std::string name;
  bool is_category = false;
  std::map<std::string, std::int64_t, std::less<>> categories = {};
  Standard standard = {};
  std::optional<double> fill = {};  // replaces a missing number, in original units

  // Numbers per row.
  std::int64_t width() const noexcept { return is_category ? std::ssize(categories) : 1; }
};

class InputColumns {
 public:
  // `rows` are the training rows.
  InputColumns(const Table& table, const RowNumbers& rows, const TableConfig& config);
  // Columns that were learned before.
  InputColumns(std::vector<InputColumn> columns, Missing missing);

  const std::vector<InputColumn>& columns() const noexcept { return columns_; }
  std::vector<std::string> names() const;
  const Missing& missing() const noexcept { return missing_; }
  // Numbers per row.
  std::int64_t width() const noexcept { return width_; }
  // Returns (rows, width) for a table that has these columns in any order. `remedy` is the advice
  // of the error about a field that is not a number.
  std::vector<float> encode(const Table& table, const RowNumbers& rows,
                            const char* remedy = kInputRemedy) const;
  // One message per column in which these rows have categories that the training rows lack.
  std::vector<std::string> unknown_categories(const Table& table, const RowNumbers& rows) const;

 private:
  InputColumn fit(const Table& table, const RowNumbers& rows, const std::string& name,
                  const TableConfig& config) const;
  void fit_numbers(InputColumn& column, const Table& table, const RowNumbers& rows,
                   bool is_standardized) const;
  double fill_of_row(const InputColumn& column, const Table& table, std::int64_t row) const;

  Missing missing_;
  std::vector<InputColumn> columns_;
  std::int64_t width_ = 0;
};

}  // namespace trireme::data::table
