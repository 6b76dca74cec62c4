// DataConfig contains the settings of `[data]` that all kinds of data share: how data is read and
// what is predicted.
//
// Thread safety: a value type.

#pragma once

#include <filesystem>

#include "trireme/base/config/fields.h"

namespace trireme::data {

// What the model predicts.
enum class Target {
  Labels,  // the labels in the data
  Input,   // the sample itself, after augmentation
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
