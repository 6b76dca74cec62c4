// Goal:   every sample of an epoch is assigned exactly once, for any number of micro-batches, any
//         batch size and either treatment of the last batch; positions continue from epoch to
//         epoch.
// Method: exhaustive over small counts, batch sizes and numbers of micro-batches, through two
//         epochs each.

#include "trireme/data/order/sample_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "trireme/base/error.h"
#include "trireme/data/order/position.h"

namespace trireme::data {
namespace {

// The sample numbers of an epoch in the order in which micro-batches receive them, and the number
// of steps.
std::vector<std::int64_t> walk(const SamplePlan& plan, Position& at, std::int64_t& steps) {
  std::vector<std::int64_t> all;
  const std::int64_t epoch = at.epoch;
  for (steps = 0; at.epoch == epoch; ++steps) {
    std::int64_t next = 0;
    for (int micro_batch = 0; micro_batch < plan.options().micro_batches; ++micro_batch) {
      const Range places = plan.places(at, micro_batch);
      EXPECT_EQ(places.begin, next);
      EXPECT_LE(places.count(), plan.places_max(micro_batch));
      for (std::int64_t i = places.begin; i < places.end; ++i) all.push_back(at.cursor + i);
      next = places.end;
    }
    EXPECT_EQ(next, plan.total(at));
    at = plan.after(at);
  }
  return all;
}

TEST(SamplePlan, GivesEverySampleOnce) {
  for (std::int64_t count = 1; count <= 20; ++count) {
    for (std::int64_t batch = 1; batch <= 23; ++batch) {
      for (int micro_batches : {1, 2, 3, 5, 8, 24}) {
        for (bool is_last_dropped : {false, true}) {
          if (is_last_dropped && batch > count) continue;
          SCOPED_TRACE(::testing::Message() << count << " samples, batch " << batch << ", "
                                            << micro_batches << " slots, drop " << is_last_dropped);
          const SamplePlan plan({.count = count,
                                 .batch = batch,
                                 .micro_batches = micro_batches,
                                 .is_last_dropped = is_last_dropped});
          Position at;
          for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
            std::int64_t steps = 0;
            const std::vector<std::int64_t> all = walk(plan, at, steps);
            EXPECT_EQ(steps, plan.steps_an_epoch());
            ASSERT_EQ(std::ssize(all), is_last_dropped ? count - count % batch : count);
            for (std::size_t i = 0; i < all.size(); ++i)
              ASSERT_EQ(all[i], static_cast<std::int64_t>(i));
            EXPECT_EQ(at, (Position{.epoch = epoch + 1, .cursor = 0}));
          }
        }
      }
    }
  }
}

TEST(SamplePlan, CutsTheLastBatchAnew) {
  const SamplePlan plan({.count = 10, .batch = 8, .micro_batches = 3});
  EXPECT_EQ(plan.places({}, 0), (Range{0, 2}));
  EXPECT_EQ(plan.places({}, 1), (Range{2, 5}));
  EXPECT_EQ(plan.places({}, 2), (Range{5, 8}));
  const Position last{.epoch = 0, .cursor = 8};
  EXPECT_EQ(plan.places(last, 0), (Range{0, 0}));
  EXPECT_EQ(plan.places(last, 1), (Range{0, 1}));
  EXPECT_EQ(plan.places(last, 2), (Range{1, 2}));
}

// A job resumed with another batch size starts at a position where none of its own steps would
// begin.
TEST(SamplePlan, GoesOnFromAnyCursor) {
  const SamplePlan plan({.count = 10, .batch = 4, .micro_batches = 2, .is_last_dropped = true});
  EXPECT_EQ(plan.total({.epoch = 1, .cursor = 5}), 4);
  EXPECT_EQ(plan.after({.epoch = 1, .cursor = 5}), (Position{.epoch = 2, .cursor = 0}));
  EXPECT_EQ(plan.settle({.epoch = 1, .cursor = 7}), (Position{.epoch = 2, .cursor = 0}));
  EXPECT_EQ(plan.settle({.epoch = 1, .cursor = 10}), (Position{.epoch = 2, .cursor = 0}));
}

TEST(SamplePlan, SharesByWeight) {
  for (const std::int64_t total : {1, 2, 7, 12, 100}) {
    const SamplePlan plan(
        {.count = total, .batch = total, .micro_batches = 4, .weights = {3, 0, 1, 4}});
    std::int64_t end = 0;
    for (int micro_batch = 0; micro_batch < 4; ++micro_batch) {
      const Range range = plan.places({}, micro_batch);
      EXPECT_EQ(range.begin, end);
      EXPECT_LE(range.count(), plan.places_max(micro_batch));
      end = range.end;
    }
    EXPECT_EQ(end, total);
    EXPECT_EQ(plan.places({}, 1).count(), 0);
  }
  const SamplePlan plan({.count = 80, .batch = 80, .micro_batches = 4, .weights = {3, 0, 1, 4}});
  EXPECT_EQ(plan.places({}, 0), (Range{0, 30}));
  EXPECT_EQ(plan.places({}, 2), (Range{30, 40}));
  // A micro-batch that is cut in two keeps its bounds.
  const SamplePlan cut(
      {.count = 80, .batch = 80, .micro_batches = 8, .weights = {3, 3, 0, 0, 1, 1, 4, 4}});
  EXPECT_EQ(cut.places({}, 0).begin, 0);
  EXPECT_EQ(cut.places({}, 1).end, 30);
  EXPECT_EQ(cut.places({}, 6).begin, 40);
  EXPECT_THROW(SamplePlan({.count = 3, .batch = 1, .micro_batches = 2, .weights = {1}}), Error);
  EXPECT_THROW(SamplePlan({.count = 3, .batch = 1, .micro_batches = 2, .weights = {0, 0}}), Error);
  EXPECT_THROW(SamplePlan({.count = 3, .batch = 1, .micro_batches = 2, .weights = {2, -1}}), Error);
}

TEST(SamplePlan, DoesNotOverflow) {
  const std::int64_t many = std::int64_t{1} << 40;
  const SamplePlan plan({.count = many, .batch = many, .micro_batches = 4096});
  EXPECT_EQ(plan.places({}, 4095).end, many);
  EXPECT_EQ(plan.places({}, 1).begin, many / 4096);
}

TEST(SamplePlan, RefusesEpochsWithoutAStep) {
  EXPECT_THROW(SamplePlan({.count = 0, .batch = 4}), Error);
  EXPECT_THROW(SamplePlan({.count = 3, .batch = 4, .is_last_dropped = true}), Error);
  EXPECT_THROW(SamplePlan({.count = 3, .batch = 0}), Error);
  EXPECT_THROW(SamplePlan({.count = 3, .batch = 1, .micro_batches = 0}), Error);
  const SamplePlan plan({.count = 3, .batch = 4});
  EXPECT_THROW(plan.places({}, 1), Error);
  EXPECT_THROW(plan.total({.epoch = 0, .cursor = 4}), Error);
  EXPECT_THROW(plan.total({.epoch = 0, .cursor = -1}), Error);
}

}  // namespace
}  // namespace trireme::data
