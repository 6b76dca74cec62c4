// Goal:   the worst value and the median can each miss a bar, noise without an incident does not
//         count against it, and a bar without a measurement is not met.
// Method: handmade figures.

#include "bench/recovery/bar.h"

#include <gtest/gtest.h>

namespace trireme::bench::recovery {
namespace {

TEST(RecoveryBar, CanBeMissedByTheWorstValue) {
  const RecoveryLimit bar{.median_max = 0.05, .worst_max = 0.25};
  EXPECT_EQ(judge(bar, {0.01, 0.04, 0.2}).is_met, true);
  EXPECT_EQ(judge(bar, {0.01, 0.04, 0.3}).is_met, false);
  EXPECT_EQ(judge(bar, {0.06, 0.06, 0.01}).is_met, false);
  EXPECT_EQ(judge(bar, {0.01}).text, "met: median <= 50 ms, worst <= 250 ms");
  EXPECT_EQ(judge({.worst_max = 0.05}, {0.09}).text, "MISSED: worst <= 50 ms");
}

TEST(RecoveryBar, NoiseWithoutAnIncidentDoesNotCount) {
  const RecoveryLimit bar{.worst_max = 0.05};
  EXPECT_EQ(judge(bar, {0.01, 0.09}, {0.0, 0.06}).is_met, true);
  EXPECT_EQ(judge(bar, {0.01, 0.09}, {0.0, 0.01}).is_met, false);
  EXPECT_EQ(judge(bar, {0.01, 0.09}, {0.0, 0.06}).text, "met: effect, worst <= 50 ms");
  EXPECT_NEAR(effect_of({0.02, 0.09}, {0.01, 0.06}).worst, 0.03, 1e-12);
  EXPECT_NEAR(effect_of({0.02}, {0.05}).median, -0.03, 1e-12);
}

TEST(RecoveryBar, ABarWithoutAMeasurementIsNotMet) {
  EXPECT_EQ(judge({.median_max = 1}, {}).is_met, std::nullopt);
  EXPECT_EQ(judge({.median_max = 1}, {}).text, "not measured: median <= 1000 ms");
  EXPECT_EQ(judge({}, {0.1}).text, "");
  const RecoveryVerdict verdict = compare({{"kill", 0.02}}, "kill", "torchrun", 40);
  EXPECT_EQ(verdict.is_met, std::nullopt);
  EXPECT_EQ(verdict.text, "kill against torchrun: not measured: >= 40 x");
}

TEST(RecoveryBar, ComparesWithAPeer) {
  const std::map<std::string, double> medians{{"kill", 0.05}, {"zero", -0.01}, {"torchrun", 2.5}};
  EXPECT_EQ(compare(medians, "kill", "torchrun", 40).text,
            "kill against torchrun: 50 x faster, met: >= 40 x");
  EXPECT_EQ(compare(medians, "kill", "torchrun", 60).is_met, false);
  EXPECT_EQ(compare(medians, "zero", "torchrun", 40).text,
            "zero against torchrun: more than 250 x faster, met: >= 40 x");
}

}  // namespace
}  // namespace trireme::bench::recovery
