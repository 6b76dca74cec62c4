// Goal:   rounds are combined as documented (the fastest round, the median of the memory, verified
//         only if all rounds were), and labels distinguish entrants by everything in which their
//         cases differ.
// Method: handmade series.

#include "bench/train/entrant.h"

#include <gtest/gtest.h>

#include <set>

namespace trireme::bench::train {
namespace {

TrainRecord record(double speed, std::int64_t peak = 100) {
  TrainRecord result;
  result.units_per_second = speed;
  result.peak_bytes = peak;
  result.pss_bytes = 2 * peak;
  result.is_verified = true;
  return result;
}

TEST(TrainSeries, UsesTheFastestRoundAndTheMedianOfMemory) {
  TrainSeries series{{}, {record(10, 300), record(30, 100), record(20, 200)}};
  EXPECT_EQ(series.combined().units_per_second, 30);
  EXPECT_EQ(series.combined().peak_bytes, 200);
  EXPECT_EQ(series.combined().pss_bytes, 400);
  EXPECT_TRUE(series.combined().is_verified);
  series.rounds[2].is_verified = false;
  EXPECT_FALSE(series.combined().is_verified);
}

TEST(TrainSeries, AreComparedBestAgainstBestAndRoundByRound) {
  const TrainSeries ours{{}, {record(10), record(40), record(30)}};
  const TrainSeries theirs{{}, {record(10), record(20), record(10), record(5)}};
  EXPECT_EQ(times_as_fast(ours, theirs), 2);
  EXPECT_EQ(times_as_fast_by_rounds(ours, theirs), 2);
  EXPECT_EQ(times_as_fast(ours, {{}, {record(0)}}), 0);
}

TEST(Entrant, LabelsDistinguishCases) {
  Entrant plain;
  plain.options.model = "cnn";
  plain.options.ranks = 2;
  std::vector<Entrant> all(7, plain);
  all[1].who = kPyTorch;
  all[2].options.model = "mlp";
  all[3].options.ranks = 3;
  all[4].options.threads = 2;
  all[5].options.precision = "bf16";
  all[6].options.sync = "zero1";
  all.push_back(plain);
  all.back().options.is_apart = true;
  all.push_back(plain);
  all.back().options.codec = "int8";
  all.push_back(plain);
  all.back().options.wire = 1e8;
  std::set<std::string> labels;
  for (const Entrant& entrant : all) labels.insert(entrant.label());
  EXPECT_EQ(labels.size(), all.size());
}

TEST(Entrant, ASeriesWithoutRoundsIsNotFound) {
  Entrant cnn;
  cnn.options.model = "cnn";
  std::vector<TrainSeries> all{{cnn}};
  EXPECT_EQ(find(all, cnn), nullptr);
  all[0].rounds.push_back(record(1));
  EXPECT_EQ(find(all, cnn), &all[0]);
  EXPECT_EQ(find(all, Entrant{}), nullptr);
}

}  // namespace
}  // namespace trireme::bench::train
