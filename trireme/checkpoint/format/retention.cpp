#include "trireme/checkpoint/format/retention.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trireme::checkpoint::format {

std::vector<std::int64_t> steps_to_remove(std::vector<Scored> held, const Retention& retention) {
  if (retention.keep_last <= 0) return {};
  std::ranges::sort(held, {}, &Scored::step);
  std::set<std::int64_t> kept;
  const auto last = static_cast<std::size_t>(retention.keep_last);
  for (std::size_t i = held.size() - std::min(held.size(), last); i < held.size(); ++i) {
    kept.insert(held[i].step);
  }
  std::vector<Scored> scored;
  std::ranges::copy_if(held, std::back_inserter(scored), [](const Scored& one) {
    return one.score.has_value() && !std::isnan(*one.score);
  });
  std::ranges::stable_sort(scored, [&](const Scored& a, const Scored& b) {
    return retention.is_higher_better ? *a.score > *b.score : *a.score < *b.score;
  });
  const auto best = static_cast<std::size_t>(std::max(retention.keep_best, 0));
  for (std::size_t i = 0; i < std::min(best, scored.size()); ++i) kept.insert(scored[i].step);
  std::vector<std::int64_t> gone;
  for (const Scored& one : held) {
    if (!kept.contains(one.step)) gone.push_back(one.step);
  }
  return gone;
}

}  // namespace trireme::checkpoint::format
