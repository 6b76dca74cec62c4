// Missing defines how fields without a value are handled: data.missing and data.missing_values.
//
// Semantics:     "error" rejects a file with missing values; "drop" drops their rows; "mean",
//                "median" and a fixed value fill in inputs. A number is filled in with that
//                statistic of the column in the training rows or with the value. A category is
//                filled in with the value, or gets a category of its own if the setting is "mean"
//                or "median". A fixed value is written as a number or as "value:TEXT". Targets are
//                never filled in.
// Thread safety: immutable; any thread.
// Errors:        InvalidInput if missing values are not allowed, with the count per column and the
//                first lines, and if every row would be dropped.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/table/fields.h"
#include "trireme/data/table/table_config.h"

namespace trireme::data::table {

class Missing {
 public:
  Missing() = default;
  explicit Missing(const TableConfig& config);
  // As saved with a model.
  Missing(std::string setting, const std::vector<std::string>& texts);

  // Surrounding blanks are ignored.
  bool is_missing(std::string_view field) const;
  // The category to use for a field.
  std::string_view category(std::string_view field) const {
    return is_missing(field) ? std::string_view(value_) : field;
  }
  // The fill value for a missing number, if the setting gives one. `present` contains the numbers
  // in the training rows.
  std::optional<double> fill_of(std::vector<double> present) const;
  const std::string& setting() const noexcept { return setting_; }
  const std::vector<std::string>& texts() const noexcept { return texts_; }

  // The rows of a file that are used. Adds a line to `notes` if values are missing.
  RowNumbers usable_rows(const Table& table, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& targets,
                         std::vector<std::string>& notes) const;

 private:
  enum class Kind { Error, Drop, Mean, Median, Value };

  Kind kind_ = Kind::Error;
  std::string setting_ = "error";
  std::string value_;               // of Kind::Value
  std::vector<std::string> texts_;  // in lower case
  std::vector<std::string> names_;  // columns that contain names instead of numbers
};

}  // namespace trireme::data::table
