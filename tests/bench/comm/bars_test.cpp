// Goal:   each type of bar is met exactly at its limit, missed below it, and open without a
//         measurement; and all runs that the bars require are started.
// Method: verdicts on handmade series, exactly at and just below the limit.

#include "bench/comm/bars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CommRecord sample(double seconds = 1) {
  CommRecord record;
  record.backend = "shm";
  record.ranks = 2;
  record.bytes = 1000;
  record.seconds = seconds;
  record.is_verified = true;
  return record;
}

Bar bar(Measure measure, double limit, const std::string& peer = {}) {
  return {"something", sample(), measure, limit, peer};
}

std::optional<bool> is_met(const Bar& asked, const std::vector<Series>& measured) {
  return judge(asked, measured).is_met;
}

TEST(Bars, ABarWithoutAMeasurementIsOpen) {
  const Verdict verdict = judge(bar(Measure::Seconds, 1), {});
  EXPECT_FALSE(verdict.is_met.has_value());
  EXPECT_EQ(verdict.measured, "not measured");
  const std::vector<Series> ours{{kOurs, {sample()}}};
  EXPECT_FALSE(is_met(bar(Measure::TimesPeer, 1, kGloo), ours).has_value());
  EXPECT_FALSE(is_met(bar(Measure::ShareOfBound, 1), ours).has_value());
  EXPECT_THAT(judge(bar(Measure::TimesPeer, 1, kGloo), ours).measured, HasSubstr("no gloo"));
}

TEST(Bars, AnIncorrectResultMeetsNoBar) {
  CommRecord wrong = sample(1e-9);
  wrong.is_verified = false;
  EXPECT_EQ(is_met(bar(Measure::Seconds, 1), {{kOurs, {wrong}}}), false);
}

TEST(Bars, ComparesWithAMultipleOfAPeer) {
  const std::vector<Series> measured{{kOurs, {sample(1)}}, {kGloo, {sample(8)}}};
  EXPECT_EQ(is_met(bar(Measure::TimesPeer, 8, kGloo), measured), true);
  EXPECT_EQ(is_met(bar(Measure::TimesPeer, 8.1, kGloo), measured), false);
  EXPECT_EQ(judge(bar(Measure::TimesPeer, 8, kGloo), measured).measured, "8.00 x");
}

TEST(Bars, ComparesTheBestRoundsIfTheBarRequiresIt) {
  const std::vector<Series> measured{{kOurs, {sample(9), sample(1), sample(9)}},
                                     {kOpenMpi, {sample(9), sample(4), sample(9)}}};
  EXPECT_EQ(is_met(bar(Measure::TimesPeerBest, 4, kOpenMpi), measured), true);
  EXPECT_EQ(is_met(bar(Measure::TimesPeer, 4, kOpenMpi), measured), false);
}

TEST(Bars, ChecksShareOfTheBoundSecondsAndRate) {
  CommRecord record = sample(1);
  record.bounds = {{"memcpy", 0.85}};
  const std::vector<Series> measured{{kOurs, {record}}};
  EXPECT_EQ(is_met(bar(Measure::ShareOfBound, 0.85), measured), true);
  EXPECT_EQ(is_met(bar(Measure::ShareOfBound, 0.86), measured), false);
  EXPECT_EQ(is_met(bar(Measure::Seconds, 1), measured), true);
  EXPECT_EQ(is_met(bar(Measure::Seconds, 0.99), measured), false);
  EXPECT_EQ(is_met(bar(Measure::BytesPerSecond, 1000), measured), true);
  EXPECT_EQ(is_met(bar(Measure::BytesPerSecond, 1001), measured), false);
}

TEST(Bars, ChecksTheShareOfFloat32) {
  Bar asked = bar(Measure::ShareOfFloat32, 0.7);
  asked.of.type = "int8";
  CommRecord bytes = sample(1);
  bytes.type = "int8";
  EXPECT_EQ(is_met(asked, {{kOurs, {bytes}}, {kOurs, {sample(0.7)}}}), true);
  EXPECT_EQ(is_met(asked, {{kOurs, {bytes}}, {kOurs, {sample(0.69)}}}), false);
  EXPECT_FALSE(is_met(asked, {{kOurs, {bytes}}}).has_value());
}

TEST(Bars, RunsOverAWireAreSeparateCases) {
  Bar asked = bar(Measure::ShareOfBound, 0.9);
  asked.of.wire = 1e9;
  CommRecord record = sample(1);
  record.bounds = {{"the wire", 0.95}};
  EXPECT_FALSE(is_met(asked, {{kOurs, {record}}}).has_value());
  record.wire = 1e9;
  EXPECT_EQ(is_met(asked, {{kOurs, {record}}}), true);
}

TEST(Bars, TheTableHasALinePerBarAndMarksMissedOnes) {
  const std::vector<Verdict> verdicts{{"a", ">= 1", "2", true},
                                      {"b", ">= 1", "0", false},
                                      {"c", ">= 1", "not measured", std::nullopt}};
  const std::string table = table_of(verdicts);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4);
  EXPECT_THAT(table, HasSubstr(" NO\n"));
  EXPECT_THAT(table, HasSubstr(" yes\n"));
  EXPECT_THAT(table, HasSubstr(" -\n"));
}

TEST(Bars, TheStartedRunsCoverEveryBar) {
  const std::vector<Bar> bars = all_bars();
  std::vector<Series> all;
  for (const Options& run : runs_for(bars)) {
    EXPECT_NO_THROW(run.check());
    const bool is_peer = run.backend == kGloo || run.backend == kOpenMpi;
    for (std::size_t size : run.sizes) {
      CommRecord record = sample();
      record.backend = run.backend;
      record.type = run.type;
      record.ranks = run.ranks;
      record.bytes = size;
      record.is_symmetric = run.is_symmetric;
      record.wire = run.wire;
      record.bounds = {{"some", 1}};
      add(all, is_peer ? run.backend : kOurs, record);
    }
  }
  for (const Bar& asked : bars) {
    EXPECT_TRUE(judge(asked, all).is_met.has_value()) << asked.what << judge(asked, all).measured;
  }
}

TEST(Bars, SizesOfOneKindRunTogether) {
  const std::vector<Options> runs = runs_for(all_bars());
  ASSERT_FALSE(runs.empty());
  EXPECT_EQ(runs[0].backend, "shm");
  EXPECT_TRUE(runs[0].is_symmetric);
  EXPECT_THAT(runs[0].sizes, ElementsAre(std::size_t{1} << 20, std::size_t{64} << 20));
}

}  // namespace
}  // namespace trireme::bench
