// SamplingConfig contains the settings of `[data]` for how often samples are used: fewer samples of
// a class, balanced classes, samples for evaluation only.
//
// Thread safety: a value type.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::data {

// How classes of different sizes are balanced.
enum class Balance {
  None,
  Over,   // every class is as frequent as the largest: samples are repeated
  Under,  // every class is as frequent as the smallest: other samples in each epoch
};

struct SamplingConfig {
  std::vector<std::int64_t> per_class = {};  // NOLINT(readability-redundant-member-init)
  int folds = 0;
  int fold = 0;
  std::uint64_t fold_seed = 1;
  Balance balance = Balance::None;
  bool is_stratified = false;

  static void describe(config::Fields<SamplingConfig>& f);
};

}  // namespace trireme::data
