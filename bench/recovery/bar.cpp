#include "bench/recovery/bar.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/statistics.h"

namespace trireme::bench::recovery {
namespace {

constexpr double kLeastCost = 10e-3;  // seconds: smaller costs are noise of the step times

const char* word_of(std::optional<bool> is_met) {
  if (!is_met) return "not measured";
  return *is_met ? "met" : "MISSED";
}

}  // namespace

Figures figures_of(const std::vector<double>& all) {
  return {.median = median(all),
          .worst = all.empty() ? 0 : *std::max_element(all.begin(), all.end())};
}

Figures effect_of(const std::vector<double>& disturbed, const std::vector<double>& undisturbed) {
  const Figures with = figures_of(disturbed), without = figures_of(undisturbed);
  return {.median = with.median - without.median, .worst = with.worst - without.worst};
}

RecoveryVerdict judge(const RecoveryLimit& bar, const std::vector<double>& disturbed,
                      const std::vector<double>& undisturbed) {
  if (bar.median_max == 0 && bar.worst_max == 0) return {};
  const Figures figures = effect_of(disturbed, undisturbed);
  RecoveryVerdict verdict;
  if (!disturbed.empty()) {
    verdict.is_met = (bar.median_max == 0 || figures.median <= bar.median_max) &&
                     (bar.worst_max == 0 || figures.worst <= bar.worst_max);
  }
  std::vector<std::string> parts;
  if (!undisturbed.empty()) parts.emplace_back("effect");
  if (bar.median_max > 0) parts.push_back(fmt::format("median <= {:.0f} ms", bar.median_max * 1e3));
  if (bar.worst_max > 0) parts.push_back(fmt::format("worst <= {:.0f} ms", bar.worst_max * 1e3));
  verdict.text = fmt::format("{}: {}", word_of(verdict.is_met), fmt::join(parts, ", "));
  return verdict;
}

RecoveryVerdict compare(const std::map<std::string, double>& medians, const std::string& ours,
                        const std::string& theirs, double times_min) {
  RecoveryVerdict verdict;
  std::string times;
  if (medians.contains(ours) && medians.contains(theirs)) {
    const bool is_noise = medians.at(ours) < kLeastCost;
    const double factor = medians.at(theirs) / std::max(medians.at(ours), kLeastCost);
    verdict.is_met = factor >= times_min;
    times = fmt::format("{}{:.0f} x faster, ", is_noise ? "more than " : "", factor);
  }
  verdict.text = fmt::format("{} against {}: {}{}: >= {:.0f} x", ours, theirs, times,
                             word_of(verdict.is_met), times_min);
  return verdict;
}

}  // namespace trireme::bench::recovery
