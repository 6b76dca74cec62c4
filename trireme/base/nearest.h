// nearest finds the name that somebody probably meant when they wrote one that does not exist.
//
// Meaning: distance counts letters left out, put in, exchanged and swapped with their neighbour.
//          More than a third of the word (at least one letter) is too far; among equals the
//          first candidate counts. Where none is near, one of which the word is the beginning, or
//          which is the beginning of the word: four letters at least. Nobody means a name by a word
//          of more than 100 letters.
// Threads: pure.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trireme {

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// How many of those edits lead from one word to the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace trireme
