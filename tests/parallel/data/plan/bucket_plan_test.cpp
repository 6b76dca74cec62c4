// Goal:   every parameter is in the flat space exactly once, aligned, next to those with the same
//         update settings; shards of a bucket have about the same size; updates reach every used
//         element exactly once.
// Method: plans over random sizes with 0, 1, primes and boundaries among them, for several numbers
//         of ranks and sizes of buckets; each element is counted.

#include "trireme/parallel/data/plan/bucket_plan.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <numeric>

#include "trireme/base/random.h"
#include "trireme/parallel/data/storage/layout.h"
#include "trireme/parallel/data/storage/shard_updater.h"

namespace trireme::parallel::data {
namespace {

struct Case {
  std::vector<BucketPlan::Parameter> parameters;
  std::vector<std::size_t> order;
  BucketPlan plan;
  int ranks = 1;
};

constexpr std::int64_t kSizes[] = {0, 1, 2, 7, 15, 16, 17, 31, 64, 97, 1009};

Case random_case(Random& random, std::size_t count, std::int64_t bucket_count, int ranks) {
  Case made{.parameters = {}, .order = std::vector<std::size_t>(count), .plan = {}, .ranks = ranks};
  for (std::size_t i = 0; i < count; ++i) {
    made.parameters.push_back({.count = kSizes[random.below(std::size(kSizes))],
                               .group = static_cast<int>(random.below(3)),
                               .unit = static_cast<int>(random.below(2))});
  }
  std::iota(made.order.begin(), made.order.end(), 0);
  std::shuffle(made.order.begin(), made.order.end(), random);
  made.plan = BucketPlan::make(made.parameters, made.order, {.bucket_count = bucket_count});
  return made;
}

std::vector<Case> random_cases() {
  Random random(5);
  std::vector<Case> all;
  for (const std::size_t count : {0, 1, 2, 13, 40}) {
    for (const std::int64_t bucket : {1, 16, 100, 1000, 1 << 20}) {
      for (const int ranks : {1, 2, 3, 7}) {
        all.push_back(random_case(random, count, bucket, ranks));
      }
    }
  }
  return all;
}

TEST(BucketPlan, HoldsEveryParameterOnceAndAligned) {
  for (const Case& c : random_cases()) {
    std::vector<int> owners(static_cast<std::size_t>(c.plan.count), 0);
    std::vector<int> seen(c.parameters.size(), 0);
    for (std::size_t b = 0; b < c.plan.buckets.size(); ++b) {
      for (const BucketPlan::Entry& entry : c.plan.buckets[b].entries) {
        EXPECT_EQ(c.parameters[entry.parameter].unit,
                  c.parameters[c.plan.buckets[b].entries.front().parameter].unit);
        ++seen[entry.parameter];
        EXPECT_EQ(entry.range.count(), c.parameters[entry.parameter].count);
        EXPECT_EQ(entry.range.begin % kAlignment, 0);
        EXPECT_EQ(c.plan.bucket_of[entry.parameter], b);
        EXPECT_EQ(c.plan.range_of[entry.parameter], entry.range);
        EXPECT_GE(entry.range.begin, c.plan.buckets[b].range.begin);
        EXPECT_LE(entry.range.end, c.plan.buckets[b].range.end);
        for (std::int64_t i = entry.range.begin; i < entry.range.end; ++i) {
          ++owners[static_cast<std::size_t>(i)];
        }
      }
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
    EXPECT_TRUE(std::all_of(owners.begin(), owners.end(), [](int n) { return n <= 1; }));
  }
}

TEST(BucketPlan, BucketsAreContiguousAndHaveEvenAlignedShards) {
  for (const Case& c : random_cases()) {
    std::int64_t end = 0;
    for (const BucketPlan::Bucket& bucket : c.plan.buckets) {
      EXPECT_EQ(bucket.range.begin, end);
      end = bucket.range.end;
      std::int64_t slice_end = bucket.range.begin;
      for (int rank = 0; rank < c.ranks; ++rank) {
        const ElementRange slice = bucket.slice(rank, c.ranks);
        EXPECT_EQ(slice.begin, slice_end);
        EXPECT_EQ(slice.begin % kAlignment, 0);
        EXPECT_LT(std::abs(slice.count() - bucket.range.count() / c.ranks), 2 * kAlignment);
        EXPECT_EQ(static_cast<std::size_t>(slice.count()),
                  bucket.slice_counts(c.ranks)[static_cast<std::size_t>(rank)]);
        slice_end = slice.end;
      }
      EXPECT_EQ(slice_end, bucket.range.end);
    }
    EXPECT_EQ(end, c.plan.count);
  }
}

TEST(BucketPlan, ShardsOfWholeParametersEndBetweenParameters) {
  for (const Case& c : random_cases()) {
    const BucketPlan plan =
        BucketPlan::make(c.parameters, c.order, {.bucket_count = 1000, .is_whole = true});
    for (const BucketPlan::Bucket& bucket : plan.buckets) {
      std::int64_t end = bucket.range.begin;
      std::size_t found = 0;
      for (int rank = 0; rank < c.ranks; ++rank) {
        const ElementRange slice = bucket.slice(rank, c.ranks);
        EXPECT_EQ(slice.begin, end);
        EXPECT_GE(slice.count(), 0);
        end = slice.end;
        const std::vector<int> alike(c.parameters.size(), 0);
        for (const Segment& segment :
             segments_of(bucket, slice, alike, [](std::size_t) { return true; })) {
          EXPECT_EQ(segment.range, plan.range_of[segment.parameter]);
          ++found;
        }
      }
      EXPECT_EQ(end, bucket.range.end);
      EXPECT_EQ(found, std::count_if(bucket.entries.begin(), bucket.entries.end(),
                                     [](const auto& entry) { return entry.range.count() > 0; }));
    }
  }
}

TEST(BucketPlan, KeepsTheOrderOfArrivalBetweenBucketsAndGroupsInside) {
  for (const Case& c : random_cases()) {
    std::size_t last = 0;
    for (const std::size_t parameter : c.order) {
      EXPECT_GE(c.plan.bucket_of[parameter], last);
      last = c.plan.bucket_of[parameter];
    }
    for (const BucketPlan::Bucket& bucket : c.plan.buckets) {
      EXPECT_TRUE(std::is_sorted(
          bucket.entries.begin(), bucket.entries.end(), [&](const auto& a, const auto& b) {
            return c.parameters[a.parameter].group < c.parameters[b.parameter].group;
          }));
    }
  }
}

TEST(BucketPlan, AFullBucketGetsNoMoreParameters) {
  const std::vector<BucketPlan::Parameter> parameters{{.count = 16}, {.count = 16}, {.count = 1}};
  const std::vector<std::size_t> order{2, 1, 0};
  const BucketPlan small = BucketPlan::make(parameters, order, {.bucket_count = 17});
  ASSERT_EQ(small.buckets.size(), 2U);
  EXPECT_EQ(small.buckets[0].entries.size(), 2U);
  EXPECT_EQ(small.bucket_of, (std::vector<std::size_t>{1, 0, 0}));
}

// Over all ranks' shards, an element of a used parameter is updated once, by the rule of its group,
// and an element of an unused parameter never.
TEST(Segments, UpdateEveryUsedElementOnceAndNoOther) {
  Random random(6);
  for (const Case& c : random_cases()) {
    std::vector<int> groups;
    std::vector<bool> is_used;
    for (const auto& parameter : c.parameters) {
      groups.push_back(parameter.group);
      is_used.push_back(random.below(3) > 0);
    }
    std::vector<int> group_at(static_cast<std::size_t>(c.plan.count), -1);
    for (const BucketPlan::Bucket& bucket : c.plan.buckets) {
      for (int rank = 0; rank < c.ranks; ++rank) {
        const ElementRange slice = bucket.slice(rank, c.ranks);
        for (const Segment& segment :
             segments_of(bucket, slice, groups, [&](std::size_t p) { return is_used[p]; })) {
          EXPECT_GE(segment.range.begin, slice.begin);
          EXPECT_LE(segment.range.end, slice.end);
          EXPECT_GT(segment.range.count(), 0);
          for (std::int64_t i = segment.range.begin; i < segment.range.end; ++i) {
            int& group = group_at[static_cast<std::size_t>(i)];
            EXPECT_EQ(group, -1) << "updated twice";
            group = groups[segment.parameter];
          }
        }
      }
    }
    for (std::size_t p = 0; p < groups.size(); ++p) {
      const ElementRange range = c.plan.range_of[p];
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        EXPECT_EQ(group_at[static_cast<std::size_t>(i)], is_used[p] ? groups[p] : -1);
      }
    }
  }
}

TEST(Segments, JoinAdjacentParametersOfTheSameGroup) {
  const std::vector<BucketPlan::Parameter> parameters{
      {.count = 3, .group = 0}, {.count = 5, .group = 0}, {.count = 2, .group = 1}};
  const BucketPlan plan = BucketPlan::make(parameters, std::vector<std::size_t>{0, 1, 2}, {});
  const std::vector<int> groups{0, 0, 1};
  const auto all =
      segments_of(plan.buckets[0], plan.buckets[0].range, groups, [](std::size_t) { return true; });
  EXPECT_EQ(all, (std::vector<Segment>{{.range = {0, 21}, .parameter = 0},
                                       {.range = {32, 34}, .parameter = 2}}));
}

TEST(Layout, CompactMemoryHoldsARanksShardsContiguously) {
  for (const Case& c : random_cases()) {
    const at::Tensor whole = at::arange(c.plan.count, at::kLong);
    std::int64_t held = 0;
    for (int rank = 0; rank < c.ranks; ++rank) {
      const CompactPlan compact(c.plan, rank, c.ranks);
      std::vector<at::Tensor> slices{at::empty({0}, at::kLong)};
      for (const BucketPlan::Bucket& bucket : c.plan.buckets) {
        const ElementRange slice = bucket.slice(rank, c.ranks);
        slices.push_back(whole.narrow(0, slice.begin, slice.count()));
      }
      const FlatSpace space{at::cat(slices), true, compact.shift};
      const FlatSpace flat{whole, false, {}};
      EXPECT_EQ(space.memory.numel(), compact.count);
      held += compact.count;
      for (std::size_t b = 0; b < c.plan.buckets.size(); ++b) {
        const ElementRange slice = c.plan.buckets[b].slice(rank, c.ranks);
        const ElementRange inner{slice.begin + slice.count() / 3, slice.end};
        EXPECT_TRUE(space.at(b, inner).equal(flat.at(b, inner)));
      }
    }
    EXPECT_EQ(held, c.plan.count);
  }
}

TEST(BucketPlan, AnOrderHasEveryParameterOnce) {
  using Order = std::vector<std::size_t>;
  EXPECT_EQ(order_of({}, 0), Order{});
  EXPECT_EQ(order_of({}, 3), (Order{2, 1, 0}));
  EXPECT_EQ(order_of(Order{1, 3, 1}, 5), (Order{1, 3, 4, 2, 0}));
}

}  // namespace
}  // namespace trireme::parallel::data
