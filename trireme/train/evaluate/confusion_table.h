// Formats a confusion matrix as an aligned text table, with a row per actual class, a column per
// predicted class, and headings. Names are cut to kNameMax characters, in headings to kHeadingMax.
//
// Thread safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trireme::train {

inline constexpr std::size_t kNameMax = 20;
inline constexpr std::size_t kHeadingMax = 10;

// REQUIRES: `counts` has one count per pair of names, row by row.
std::string confusion_table(const std::vector<std::string>& names,
                            const std::vector<std::int64_t>& counts);

// Cuts a name to at most `width` characters, and pads it with blanks to that width: on the right,
// or on the left.
std::string left_aligned(const std::string& name, std::size_t width);
std::string right_aligned(const std::string& name, std::size_t width);

}  // namespace trireme::train
