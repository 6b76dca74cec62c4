// TableConfig is the `[data]` section of the kinds csv and json_lines.
//
// Thread safety: a value type.

#pragma once

#include <filesystem>
#include <string_view>

#include "trireme/base/config/fields.h"

namespace trireme::data::table {

// Prefix in data.missing for a text that replaces missing values.
inline constexpr std::string_view kValuePrefix = "value:";

enum class TableTask {
  Classification,
  Regression,
  Multitask,  // several columns, each of classes or of numbers
};

struct TableConfig {
  std::filesystem::path train = {};  // NOLINT(readability-redundant-member-init)
  std::filesystem::path test = {};   // NOLINT(readability-redundant-member-init)
  double test_fraction = 0.1;
  std::uint64_t split_seed = 0;
  std::vector<std::string> inputs = {};         // NOLINT(readability-redundant-member-init)
  std::vector<std::string> categories = {};     // NOLINT(readability-redundant-member-init)
  std::vector<std::string> targets = {};        // NOLINT(readability-redundant-member-init)
  std::vector<std::string> class_targets = {};  // NOLINT(readability-redundant-member-init)
  TableTask task = TableTask::Classification;
  bool are_columns_standardized = true;
  bool are_targets_standardized = true;    // only targets that are numbers
  config::TextOrNumber missing = "error";  // or drop, mean, median, a number, or value:TEXT
  std::vector<std::string> missing_values = {"", "NA", "N/A", "NaN", "null", "?"};
  std::string delimiter = ",";  // for CSV
};

struct CsvConfig : TableConfig {
  static void describe(config::Fields<CsvConfig>& f);
};

struct JsonLinesConfig : TableConfig {
  static void describe(config::Fields<JsonLinesConfig>& f);
};

}  // namespace trireme::data::table
