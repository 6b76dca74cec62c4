// Goal:   time in which several kernels ran counts once, and kernels are summed by name.
// Method: spans made by hand.

#include "bench/gpu/activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::bench::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<Span> kSpans{{"b", 500, 600}, {"a", 0, 100}, {"a", 50, 150}, {"c", 60, 70}};

TEST(Activity, OverlappingTimeCountsOnce) {
  EXPECT_DOUBLE_EQ(Activity::of(kSpans).busy_seconds, 250e-9);
  EXPECT_EQ(Activity::of({}).busy_seconds, 0);
}

TEST(Activity, KernelsAreSummedByNameAndOrderedByTime) {
  const auto kernels = Activity::of(kSpans).kernels;
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].name, "a");
  EXPECT_EQ(kernels[0].calls, 2);
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 200e-9);
  EXPECT_EQ(kernels[2].name, "c");
}

TEST(Activity, PausesAreSummedByTheKernelsAroundThem) {
  const std::vector<Span> spans{{"b", 30, 40}, {"a", 0, 10},  {"c", 2, 5},
                                {"a", 50, 70}, {"b", 73, 80}, {"b", 80, 90}};
  const auto pauses = Activity::of(spans).pauses;
  ASSERT_EQ(pauses.size(), 2u);
  EXPECT_EQ(pauses[0].after + pauses[0].before, "ab");
  EXPECT_DOUBLE_EQ(pauses[0].seconds, 23e-9);
  EXPECT_EQ(pauses[0].calls, 2);
  EXPECT_EQ(pauses[1].after + pauses[1].before, "ba");
  EXPECT_TRUE(Activity::of({}).pauses.empty());
}

TEST(Activity, TheTableOfPausesBeginsWithTheirSum) {
  const std::vector<Span> spans{{"a", 0, 1'000'000}, {"b", 3'000'000, 4'000'000}};
  const std::string table = table_of_pauses(Activity::of(spans), 2, 1);
  EXPECT_THAT(table, HasSubstr("1.000     0.5  all\n"));
  EXPECT_THAT(table, HasSubstr("1.000     0.5  after a, before b\n"));
}

TEST(Activity, TheTableShowsTheFirstKernelsPerStep) {
  const std::vector<Span> spans{{"gemm", 0, 4'000'000}, {"norm", 4'000'000, 5'000'000}};
  const std::string table = table_of(Activity::of(spans), 2, 1);
  EXPECT_THAT(table, HasSubstr("2.000  80.0%     0.5  gemm"));
  EXPECT_THAT(table, Not(HasSubstr("norm")));
}

}  // namespace
}  // namespace trireme::bench::gpu
