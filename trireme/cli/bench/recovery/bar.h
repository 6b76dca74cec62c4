// What `trireme bench recovery` demands of a case, and whether it was met.
//
// Noise:   where the same statistic was taken over steps in which nothing happened, it is the
//          difference that is judged, median from median and worst from worst: the effect.
// Meaning: a bar that nothing was measured for is neither met nor missed.
// Threads: pure.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trireme::cli::bench::recovery {

// Seconds; 0: none.
struct Bar {
  double median_max = 0;
  double worst_max = 0;
};

struct Figures {
  double median = 0;
  double worst = 0;
};
Figures figures_of(const std::vector<double>& all);
// What is left of them without what is there anyway.
Figures effect_of(const std::vector<double>& disturbed, const std::vector<double>& undisturbed);

struct Verdict {
  std::optional<bool> is_met;  // nothing: not measured, or no bar
  std::string text;            // "met: median <= 50 ms, worst <= 250 ms"
};
Verdict judge(const Bar& bar, const std::vector<double>& disturbed,
              const std::vector<double>& undisturbed = {});

// Whether `ours` is as many times as fast as `theirs`, by the medians that are there. A death that
// costs less than nothing, within the noise of steps, counts as a millisecond.
Verdict compare(const std::map<std::string, double>& medians, const std::string& ours,
                const std::string& theirs, double times_min);

}  // namespace trireme::cli::bench::recovery
