// SamplingConfig is what `[data]` says of which samples are taken how often: fewer of a class,
// every class as often, some for evaluation only.
//
// Threads: a value.

#pragma once

#include "trireme/base/config/fields.h"

namespace trireme::data {

// How classes of different sizes are brought to one.
enum class Balance {
  None,
  Over,   // every class as often as the largest: samples come again
  Under,  // every class as often as the smallest: others of the larger in each epoch
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
