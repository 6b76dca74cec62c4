// Goal:   rounds are combined and compared as documented: in pairs, by the median, and a wrong
//         result in one round makes the combined result wrong.
// Method: handmade series.

#include "bench/comm/series.h"

#include <gtest/gtest.h>

namespace trireme::bench {
namespace {

CommRecord record(double seconds, const std::string& backend = "shm") {
  CommRecord result;
  result.backend = backend;
  result.ranks = 2;
  result.bytes = 1 << 20;
  result.seconds = seconds;
  result.p99 = 2 * seconds;
  result.is_verified = true;
  return result;
}

TEST(Series, GroupsRecordsByCaseAndContender) {
  std::vector<Series> all;
  add(all, kOurs, record(3));
  add(all, kGloo, record(9, "gloo"));
  add(all, kOurs, record(1));
  add(all, kOurs, record(2));
  CommRecord other = record(5);
  other.bytes = 64;
  add(all, kOurs, other);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].rounds.size(), 3u);
  EXPECT_EQ(all[0].combined().seconds, 2);
  EXPECT_EQ(all[0].combined().p99, 4);
  EXPECT_EQ(all[0].best_seconds(), 1);
}

TEST(Series, OneIncorrectRoundMakesTheSeriesIncorrect) {
  Series series{kOurs, {record(1), record(1), record(1)}};
  EXPECT_TRUE(series.combined().is_verified);
  series.rounds[1].is_verified = false;
  EXPECT_FALSE(series.combined().is_verified);
}

TEST(Series, TheShareOfTheBoundIsTheMedianOverRounds) {
  Series series{kOurs, {record(1), record(10), record(2)}};
  // Shares 0.5, 0.9 and 0.7, from rounds whose speed differs tenfold.
  series.rounds[0].bounds = {{"memcpy", 0.5}};
  series.rounds[1].bounds = {{"memcpy", 9}};
  series.rounds[2].bounds = {{"memcpy", 1.4}};
  EXPECT_DOUBLE_EQ(*series.combined().share_of_bound(), 0.7);
}

TEST(Series, APeersCaseIsFoundUnderItsOwnBackendName) {
  std::vector<Series> all;
  add(all, kGloo, record(9, "gloo"));
  add(all, kOurs, record(1, "tcp"));
  CommRecord of = record(0);
  of.is_symmetric = true;
  ASSERT_NE(find(all, kGloo, of), nullptr);
  EXPECT_EQ(find(all, kOurs, of), nullptr) << "shm is not tcp";
  EXPECT_EQ(find(all, kOpenMpi, of), nullptr);
  of.ranks = 4;
  EXPECT_EQ(find(all, kGloo, of), nullptr);
}

TEST(Series, RatiosCompareRoundsThatRanTogether) {
  // The machine was ten times slower in the second round; the ratio was 4 in all rounds.
  const Series ours{kOurs, {record(1), record(10), record(1)}};
  const Series theirs{kGloo, {record(4), record(40), record(4)}};
  EXPECT_DOUBLE_EQ(times_as_fast(ours, theirs), 4);
  const Series lucky{kGloo, {record(4), record(2)}};
  EXPECT_DOUBLE_EQ(times_as_fast(ours, lucky), 0.2) << "the median of 4 and 0.2 is the lower";
  EXPECT_DOUBLE_EQ(times_as_fast_at_best(ours, lucky), 2);
}

}  // namespace
}  // namespace trireme::bench
