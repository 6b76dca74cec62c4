// TableConfig is `[data]` of the kinds csv and json_lines.
//
// Threads: a value.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data::table {

enum class Task {
  Classification,
  Regression,
  Multitask,  // several columns, each of classes or of numbers
};

struct TableConfig {
  std::filesystem::path train = {};  // NOLINT(readability-redundant-member-init)
  std::filesystem::path test = {};   // NOLINT(readability-redundant-member-init)
  double test_share = 0.1;
  std::uint64_t split_seed = 0;
  std::vector<std::string> inputs = {};         // NOLINT(readability-redundant-member-init)
  std::vector<std::string> categories = {};     // NOLINT(readability-redundant-member-init)
  std::vector<std::string> targets = {};        // NOLINT(readability-redundant-member-init)
  std::vector<std::string> class_targets = {};  // NOLINT(readability-redundant-member-init)
  Task task = Task::Classification;
  bool are_columns_standardized = true;
  std::string delimiter = ",";  // of CSV
};

struct CsvConfig : TableConfig {
  static void describe(config::Fields<CsvConfig>& f);
};

struct JsonLinesConfig : TableConfig {
  static void describe(config::Fields<JsonLinesConfig>& f);
};

}  // namespace trireme::data::table
