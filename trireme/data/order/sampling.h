// Applies a SamplingConfig to the sets of a recipe.
//
// Thread safety: pure functions; any thread.
// Errors:        InvalidInput if samples have no class and a setting needs one, or if per_class has
//                a different number of classes.

#pragma once

#include "trireme/data/order/sampling_config.h"
#include "trireme/data/registry.h"

namespace trireme::data {

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
