// What a SamplingConfig makes of the sets of a recipe.
//
// Threads: pure.
// Failure: InvalidInput where samples have no class and a setting needs one, or where per_class has
//          another number of classes.

#pragma once

#include "trireme/data/registry.h"
#include "trireme/data/sampling_config.h"

namespace trireme::data {

// Before anything is augmented: fewer of a class, and cross-validation's part as the test set.
Sets divided(Sets sets, const SamplingConfig& config);

// After it: classes brought to one size, and spread over the epoch. `is_shuffled` as the recipe
// says; the loader of a stratified source does not shuffle again.
std::shared_ptr<const Source> resampled(std::shared_ptr<const Source> train,
                                        const SamplingConfig& config, bool is_shuffled);

}  // namespace trireme::data
