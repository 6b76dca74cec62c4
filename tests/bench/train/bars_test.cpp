// Goal:   bars are met, missed or left open according to the measurements.
// Method: handmade series for bars of the table.

#include "bench/train/bars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace trireme::bench::train {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TrainBar bar_of(TrainMeasure measure) {
  for (const TrainBar& bar : all_bars()) {
    if (bar.measure == measure && bar.limit > 0) return bar;
  }
  return {};
}

// Trireme reaches `ratio` times the other entrant's value in every figure.
std::vector<TrainSeries> measured(const TrainBar& bar, double ratio) {
  TrainRecord other;
  other.units_per_second = 1000;
  other.peak_bytes = other.pss_bytes = 1000000;
  other.is_verified = true;
  TrainRecord ours = other;
  ours.units_per_second *= ratio;
  ours.peak_bytes = ours.pss_bytes = static_cast<std::int64_t>(1e6 * ratio);
  return {{bar.ours, {ours}}, {bar.other, {other}}};
}

TEST(TrainBars, SpeedIsAtLeastAndMemoryAtMost) {
  for (TrainMeasure measure :
       {TrainMeasure::Speed, TrainMeasure::PeakBytes, TrainMeasure::PssBytes}) {
    const TrainBar bar = bar_of(measure);
    const bool is_speed = measure == TrainMeasure::Speed;
    EXPECT_EQ(judge(bar, measured(bar, bar.limit + 0.001)).is_met, is_speed);
    EXPECT_EQ(judge(bar, measured(bar, bar.limit - 0.001)).is_met, !is_speed);
    EXPECT_THAT(judge(bar, measured(bar, 1)).wanted, StartsWith(is_speed ? ">=" : "<="));
  }
}

TEST(TrainBars, ABarWithoutARunIsOpen) {
  const TrainBar bar = bar_of(TrainMeasure::Speed);
  auto series = measured(bar, 2);
  EXPECT_EQ(judge(bar, {}).is_met, std::nullopt);
  series[1].rounds.clear();
  EXPECT_EQ(judge(bar, series).is_met, std::nullopt);
  EXPECT_THAT(judge(bar, series).measured, HasSubstr("no PyTorch"));
}

TEST(TrainBars, WithoutALimitTheRatioIsOnlyReported) {
  TrainBar bar = bar_of(TrainMeasure::Speed);
  bar.limit = 0;
  const Verdict verdict = judge(bar, measured(bar, 0.5));
  EXPECT_EQ(verdict.is_met, std::nullopt);
  EXPECT_THAT(verdict.measured, HasSubstr("0.50 x"));
}

TEST(TrainBars, AnIncorrectRunMeetsNoBar) {
  const TrainBar bar = bar_of(TrainMeasure::Speed);
  auto series = measured(bar, 9);
  series[0].rounds[0].is_verified = false;
  EXPECT_EQ(judge(bar, series).is_met, false);
}

TEST(TrainBars, CanBeChosenByModelAndRanks) {
  TrainOptions options;
  EXPECT_EQ(bars_for(options).size(), all_bars().size());
  options.model = "mlp";
  EXPECT_EQ(bars_for(options).size(), 2u);
  options.ranks = 2;
  options.seconds = 7;
  const auto bars = bars_for(options);
  ASSERT_EQ(bars.size(), 1u);
  EXPECT_EQ(bars[0].limit, 1.7);
  EXPECT_EQ(bars[0].other.options.seconds, 7);
}

TEST(TrainBars, EveryEntrantRunsOnceAndTriremeRunsFirst) {
  const std::vector<TrainBar> bars = all_bars();
  const std::vector<Entrant> entrants = entrants_of(bars);
  for (const Entrant& entrant : entrants) {
    EXPECT_EQ(std::count_if(entrants.begin(), entrants.end(),
                            [&](const Entrant& other) { return other.label() == entrant.label(); }),
              1);
  }
  EXPECT_EQ(entrants[0].label(), bars[0].ours.label());
  EXPECT_EQ(entrants[1].label(), bars[0].other.label());
}

}  // namespace
}  // namespace trireme::bench::train
