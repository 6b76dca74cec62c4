// DataConfig is what `[data]` says of any kind of data: how it is read, and what is asked of it.
//
// Threads: a value.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data {

// What is to be predicted.
enum class Target {
  Labels,  // what the data say
  Input,   // the sample itself, as it was augmented
};

struct DataConfig {
  int threads = 1;
  int ahead = 2;
  bool is_shuffled = true;
  bool is_last_dropped = false;
  Target target = Target::Labels;
  std::filesystem::path extra = {};             // NOLINT(readability-redundant-member-init)
  std::vector<std::int64_t> class_groups = {};  // NOLINT(readability-redundant-member-init)
  bool has_input_mean = false;

  bool has_tasks() const noexcept { return !class_groups.empty() || has_input_mean; }

  static void describe(config::Fields<DataConfig>& f);
};

}  // namespace trireme::data
