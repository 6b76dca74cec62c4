// The table of a confusion matrix, for people: a row per actual class, a column per predicted one,
// with headings, all of them aligned.
//
// Meaning: a name longer than kNameMax characters is cut, in a heading longer than kHeadingMax.
// Threads: pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trireme::train {

inline constexpr std::size_t kNameMax = 20;
inline constexpr std::size_t kHeadingMax = 10;

// REQUIRES: as many counts as the square of the number of names, row by row.
std::string confusion_table(const std::vector<std::string>& names,
                            const std::vector<std::int64_t>& counts);

// A name cut to at most `width` characters, and filled up with blanks to that many: on the right,
// or on the left.
std::string left_aligned(const std::string& name, std::size_t width);
std::string right_aligned(const std::string& name, std::size_t width);

}  // namespace trireme::train
