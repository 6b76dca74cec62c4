// CsvConfig is `[data]` of kind csv.
//
// Threads: a value.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data::table {

enum class Task { Classification, Regression };

struct CsvConfig {
  std::filesystem::path train = {};  // NOLINT(readability-redundant-member-init)
  std::filesystem::path test = {};   // NOLINT(readability-redundant-member-init)
  double test_share = 0.1;
  std::uint64_t split_seed = 0;
  std::vector<std::string> inputs = {};   // NOLINT(readability-redundant-member-init)
  std::vector<std::string> targets = {};  // NOLINT(readability-redundant-member-init)
  Task task = Task::Classification;
  bool are_columns_standardized = true;
  std::string delimiter = ",";

  static void describe(config::Fields<CsvConfig>& f);
};

}  // namespace trireme::data::table
