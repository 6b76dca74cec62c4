// Labels are the classes of all samples of a source, for balancing and splitting by class.
//
// Thread safety: pure functions; any thread.
// Errors:        InvalidInput if a sample has no class or several classes; the errors of reading.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

// Reads the target of every sample. `setting` is the setting that needs the labels, for messages.
std::vector<std::int64_t> labels_of(const Source& source, const std::string& setting);

// Number of samples per class.
std::vector<std::int64_t> count_labels(const std::vector<std::int64_t>& labels,
                                       std::int64_t classes);

// Sample numbers by class, in order.
std::vector<std::vector<std::int64_t>> members_of(const std::vector<std::int64_t>& labels,
                                                  std::int64_t classes);

// Class weights that balance the classes: samples / (classes that occur * samples of the class),
// whose mean over the samples is 1; 0 for a class without samples.
std::vector<double> balanced_weights(const std::vector<std::int64_t>& counts);

// The fold, of `folds`, of each sample: a function of the seed, with every class (or all samples,
// if they have no class) divided as evenly as possible.
std::vector<int> folds_of(const std::vector<std::int64_t>& labels, std::int64_t classes, int folds,
                          std::uint64_t seed);

}  // namespace trireme::data
