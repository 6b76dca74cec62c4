// Formats the results for classes as aligned text tables. Names are cut to 20 characters, in the
// headings of columns to 10.
//
// Thread safety: pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/train/evaluate/scores.h"

namespace trireme::train {

// A row per class, with its precision, recall, F1 and count.
std::string class_table(const std::vector<std::string>& names,
                        const std::vector<ClassScore>& classes);

// A confusion matrix with a row per actual class, a column per predicted class, and headings.
// REQUIRES: `counts` has one count per pair of names, row by row.
std::string confusion_table(const std::vector<std::string>& names,
                            const std::vector<std::int64_t>& counts);

}  // namespace trireme::train
