#include "trireme/cluster/rank_names.h"

#include <fmt/format.h>

namespace trireme::cluster {

std::string name_ranks(std::span<const int> ranks) {
  if (ranks.empty()) return "no rank";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (i > 0) text += ", ";
    text += std::to_string(ranks[i]);
    // Two consecutive ranks are printed as two numbers, not as a range.
    if (end - i == 2) text += ", " + std::to_string(ranks[end - 1]);
    if (end - i > 2) text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

std::string name_seconds(Duration time) {
  const double seconds = std::chrono::duration<double>(time).count();
  if (seconds < 0.1) return fmt::format("{:.0f} ms", seconds * 1000);
  return fmt::format("{:.1f} s", seconds);
}

}  // namespace trireme::cluster
