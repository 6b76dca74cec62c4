// Applies a SamplingConfig to the sets of a recipe.
//
// Thread safety: pure functions; any thread.
// Errors:        InvalidInput if samples have no class and a setting needs one, or if per_class has
//                a different number of classes.

#pragma once

#include "trireme/base/config/fields.h"
#include "trireme/data/registry.h"

namespace trireme::data {

// How classes of different sizes are balanced.
enum class ClassBalance {
  None,
  Over,   // every class is as frequent as the largest: samples are repeated
  Under,  // every class is as frequent as the smallest: other samples in each epoch
};

// The settings of `[data]` for how often samples are used: fewer samples of a class, balanced
// classes, samples for evaluation only.
struct SamplingConfig {
  std::vector<std::int64_t> per_class = {};  // NOLINT(readability-redundant-member-init)
  int folds = 0;
  int fold = 0;
  std::uint64_t fold_seed = 1;
  ClassBalance balance = ClassBalance::None;
  bool is_stratified = false;

  static void describe(config::Fields<SamplingConfig>& f);
};

// Before augmentation: reduces classes and selects the cross-validation fold as the test set.
Sets divided(Sets sets, const SamplingConfig& config);
// What divided() does to a test set: removes the classes that per_class excludes.
std::shared_ptr<const Source> with_kept_classes(std::shared_ptr<const Source> test,
                                                const SamplingConfig& config);

// After augmentation: balances the classes and spreads them over the epoch. `is_shuffled` is the
// recipe's setting; the loader of a stratified source does not shuffle again.
std::shared_ptr<const Source> resampled(std::shared_ptr<const Source> train,
                                        const SamplingConfig& config, bool is_shuffled);

}  // namespace trireme::data
