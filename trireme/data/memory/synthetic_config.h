// SyntheticConfig is the `[data]` section of kind synthetic.
//
// Thread safety: a value type.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::data::memory {

enum class Task { Images, Classification, Regression, Tokens };

struct SyntheticConfig {
  Task task = Task::Images;
  std::int64_t count = 10000;
  std::int64_t test_count = 1000;
  std::vector<std::int64_t> sizes = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t classes = 10;
  double noise = 0.5;
  std::uint64_t seed = 0;

  static void describe(config::Fields<SyntheticConfig>& f);
};

}  // namespace trireme::data::memory
