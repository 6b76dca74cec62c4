#include "bench/recovery/bar.h"

#include <algorithm>
#include <cstdio>

#include "bench/statistics.h"

namespace trireme::bench::recovery {
namespace {

constexpr double kLeastCost = 10e-3;  // seconds: smaller costs are noise of the step times

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f ms", seconds * 1e3);
  return text;
}

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f", value);
  return text;
}

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
  verdict.text = std::string(word_of(verdict.is_met)) + ":";
  if (!undisturbed.empty()) verdict.text += " effect,";
  if (bar.median_max > 0) verdict.text += " median <= " + milliseconds(bar.median_max);
  if (bar.median_max > 0 && bar.worst_max > 0) verdict.text += ",";
  if (bar.worst_max > 0) verdict.text += " worst <= " + milliseconds(bar.worst_max);
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
    times = (is_noise ? "more than " : "") + rounded(factor) + " x faster, ";
  }
  verdict.text = ours + " against " + theirs + ": " + times + word_of(verdict.is_met) +
                 ": >= " + rounded(times_min) + " x";
  return verdict;
}

}  // namespace trireme::bench::recovery
