#include "trireme/base/text/nearest.h"

#include <algorithm>
#include <vector>

namespace trireme {

// Optimal string alignment distance, row by row. Swaps need the row before the previous one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t exchange = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({exchange, last[j] + 1, row[j - 1] + 1});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

namespace {

// "lr" of "learning_rate".
std::string initials_of(std::string_view name) {
  std::string initials;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (i == 0 || name[i - 1] == '_') initials += name[i];
  }
  return initials;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  // The cost grows with the product of the lengths, and no valid name is that long.
  constexpr std::size_t kLongest = 100;
  constexpr std::size_t kBeginning = 4;
  if (word.size() > kLongest) return std::nullopt;
  for (const std::string& candidate : candidates) {
    if (word.size() > 1 && initials_of(candidate) == word) return candidate;
  }
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::optional<std::string> best;
  for (const std::string& candidate : candidates) {
    // A candidate that shares no letter with the word is not a useful suggestion.
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least && distance < std::max(word.size(), candidate.size())) {
      least = distance;
      best = candidate;
    }
  }
  if (best) return best;
  // Otherwise accept a candidate that is a prefix of the word, or that has the word as its prefix.
  const auto begins_alike = [&](const std::string& candidate) {
    const std::size_t shorter = std::min(word.size(), candidate.size());
    return shorter >= kBeginning && word.substr(0, shorter) == candidate.substr(0, shorter);
  };
  const auto alike = std::find_if(candidates.begin(), candidates.end(), begins_alike);
  return alike == candidates.end() ? std::nullopt : std::optional(*alike);
}

}  // namespace trireme
