// nearest() finds the existing name that a user most likely meant by an unknown one.
//
// Initials:      a word that consists of the initials of a candidate means that candidate: "lr" is
//                "learning_rate".
// Distance:      counts inserted, deleted and replaced letters and swaps of two neighbours.
//                Candidates that differ by more than a third of the word (at least one letter) are
//                not considered; the first of several equally near candidates wins. If none is near
//                enough, a candidate is accepted that is a prefix of the word or has the word as
//                its prefix, with at least four letters in common. Words of more than 100 letters
//                have no suggestion.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trireme {

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// The number of such edits between the two words.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace trireme
