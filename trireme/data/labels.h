// Labels are the classes of all samples of a source, for who balances or divides by them.
//
// Threads: pure.
// Failure: InvalidInput where a sample has no class, or several; what reading throws.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/data/source.h"

namespace trireme::data {

// `setting` is who asks, for messages. Reads the target of every sample.
std::vector<std::int64_t> labels_of(const Source& source, const std::string& setting);

// Samples of each class.
std::vector<std::int64_t> count_labels(const std::vector<std::int64_t>& labels,
                                       std::int64_t classes);

// The numbers of the samples of each class, in order.
std::vector<std::vector<std::int64_t>> members_of(const std::vector<std::int64_t>& labels,
                                                  std::int64_t classes);

// What a class counts so that all count the same: samples / (classes that occur * samples of the
// class), whose mean over the samples is 1; 0 for a class that has none.
std::vector<double> balanced_weights(const std::vector<std::int64_t>& counts);

// Which of `folds` parts each sample is in: a function of the seed, with every class (or, where
// samples have none, all of them) cut as evenly as can be.
std::vector<int> folds_of(const std::vector<std::int64_t>& labels, std::int64_t classes, int folds,
                          std::uint64_t seed);

}  // namespace trireme::data
