// The performance targets (bars) of `trireme bench recovery` and their verdicts.
//
// Noise:         if the same statistic was also measured over undisturbed steps, the difference is
//                judged (median minus median, worst minus worst): the effect of the incident.
// Verdicts:      a bar without a measurement is neither met nor missed.
// Thread safety: pure functions.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trireme::bench::recovery {

// Limits in seconds; 0: no limit.
struct RecoveryLimit {
  double median_max = 0;
  double worst_max = 0;
};

struct Figures {
  double median = 0;
  double worst = 0;
};
Figures figures_of(const std::vector<double>& all);
// The disturbed figures minus the undisturbed figures.
Figures effect_of(const std::vector<double>& disturbed, const std::vector<double>& undisturbed);

struct RecoveryVerdict {
  std::optional<bool> is_met;  // nullopt: not measured, or no bar
  std::string text;            // "met: median <= 50 ms, worst <= 250 ms"
};
RecoveryVerdict judge(const RecoveryLimit& bar, const std::vector<double>& disturbed,
                      const std::vector<double>& undisturbed = {});

// Whether `ours` is at least `times_min` times as fast as `theirs`, by the available medians. A
// cost below the noise of the step times (10 ms), even a negative one, counts as 10 ms.
RecoveryVerdict compare(const std::map<std::string, double>& medians, const std::string& ours,
                        const std::string& theirs, double times_min);

}  // namespace trireme::bench::recovery
