// Goal:   every sample of an epoch is assigned exactly once, for any number of micro-batches, any
//         batch size and either treatment of the last batch; positions continue from epoch to
//         epoch.
// Method: exhaustive over small counts, batch sizes and numbers of micro-batches, through two
//         epochs each.

#include "trireme/data/order/deal.h"

#include <gtest/gtest.h>

#include <vector>

#include "trireme/base/error.h"
#include "trireme/data/order/position.h"

namespace trireme::data {
namespace {

// The sample numbers of an epoch in the order in which micro-batches receive them, and the number
// of steps.
std::vector<std::int64_t> walk(const Deal& deal, Position& at, std::int64_t& steps) {
  std::vector<std::int64_t> all;
  const std::int64_t epoch = at.epoch;
  for (steps = 0; at.epoch == epoch; ++steps) {
    std::int64_t next = 0;
    for (int slot = 0; slot < deal.options().slots; ++slot) {
      const Range places = deal.places(at, slot);
      EXPECT_EQ(places.begin, next);
      EXPECT_LE(places.count(), deal.places_max(slot));
      for (std::int64_t i = places.begin; i < places.end; ++i) all.push_back(at.cursor + i);
      next = places.end;
    }
    EXPECT_EQ(next, deal.total(at));
    at = deal.after(at);
  }
  return all;
}

TEST(Deal, GivesEverySampleOnce) {
  for (std::int64_t count = 1; count <= 20; ++count) {
    for (std::int64_t batch = 1; batch <= 23; ++batch) {
      for (int slots : {1, 2, 3, 5, 8, 24}) {
        for (bool is_last_dropped : {false, true}) {
          if (is_last_dropped && batch > count) continue;
          SCOPED_TRACE(::testing::Message() << count << " samples, batch " << batch << ", " << slots
                                            << " slots, drop " << is_last_dropped);
          const Deal deal(
              {.count = count, .batch = batch, .slots = slots, .is_last_dropped = is_last_dropped});
          Position at;
          for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
            std::int64_t steps = 0;
            const std::vector<std::int64_t> all = walk(deal, at, steps);
            EXPECT_EQ(steps, deal.steps_an_epoch());
            ASSERT_EQ(std::ssize(all), deal.samples_an_epoch());
            for (std::size_t i = 0; i < all.size(); ++i)
              ASSERT_EQ(all[i], static_cast<std::int64_t>(i));
            EXPECT_EQ(at, (Position{.epoch = epoch + 1, .cursor = 0}));
          }
        }
      }
    }
  }
}

TEST(Deal, CutsTheLastBatchAnew) {
  const Deal deal({.count = 10, .batch = 8, .slots = 3});
  EXPECT_EQ(deal.places({}, 0), (Range{0, 2}));
  EXPECT_EQ(deal.places({}, 1), (Range{2, 5}));
  EXPECT_EQ(deal.places({}, 2), (Range{5, 8}));
  const Position last{.epoch = 0, .cursor = 8};
  EXPECT_EQ(deal.places(last, 0), (Range{0, 0}));
  EXPECT_EQ(deal.places(last, 1), (Range{0, 1}));
  EXPECT_EQ(deal.places(last, 2), (Range{1, 2}));
}

// A job resumed with another batch size starts at a position where none of its own steps would
// begin.
TEST(Deal, GoesOnFromAnyCursor) {
  const Deal deal({.count = 10, .batch = 4, .slots = 2, .is_last_dropped = true});
  EXPECT_EQ(deal.total({.epoch = 1, .cursor = 5}), 4);
  EXPECT_EQ(deal.after({.epoch = 1, .cursor = 5}), (Position{.epoch = 2, .cursor = 0}));
  EXPECT_EQ(deal.settle({.epoch = 1, .cursor = 7}), (Position{.epoch = 2, .cursor = 0}));
  EXPECT_EQ(deal.settle({.epoch = 1, .cursor = 10}), (Position{.epoch = 2, .cursor = 0}));
}

TEST(Deal, SharesByWeight) {
  for (const std::int64_t total : {1, 2, 7, 12, 100}) {
    const Deal deal({.count = total, .batch = total, .slots = 4, .weights = {3, 0, 1, 4}});
    std::int64_t end = 0;
    for (int slot = 0; slot < 4; ++slot) {
      const Range range = deal.places({}, slot);
      EXPECT_EQ(range.begin, end);
      EXPECT_LE(range.count(), deal.places_max(slot));
      end = range.end;
    }
    EXPECT_EQ(end, total);
    EXPECT_EQ(deal.places({}, 1).count(), 0);
  }
  const Deal deal({.count = 80, .batch = 80, .slots = 4, .weights = {3, 0, 1, 4}});
  EXPECT_EQ(deal.places({}, 0), (Range{0, 30}));
  EXPECT_EQ(deal.places({}, 2), (Range{30, 40}));
  // A micro-batch (slot) that is cut in two keeps its bounds.
  const Deal cut({.count = 80, .batch = 80, .slots = 8, .weights = {3, 3, 0, 0, 1, 1, 4, 4}});
  EXPECT_EQ(cut.places({}, 0).begin, 0);
  EXPECT_EQ(cut.places({}, 1).end, 30);
  EXPECT_EQ(cut.places({}, 6).begin, 40);
  EXPECT_THROW(Deal({.count = 3, .batch = 1, .slots = 2, .weights = {1}}), Error);
  EXPECT_THROW(Deal({.count = 3, .batch = 1, .slots = 2, .weights = {0, 0}}), Error);
  EXPECT_THROW(Deal({.count = 3, .batch = 1, .slots = 2, .weights = {2, -1}}), Error);
}

TEST(Deal, DoesNotOverflow) {
  const std::int64_t many = std::int64_t{1} << 40;
  const Deal deal({.count = many, .batch = many, .slots = 4096});
  EXPECT_EQ(deal.places({}, 4095).end, many);
  EXPECT_EQ(deal.places({}, 1).begin, many / 4096);
}

TEST(Deal, RefusesEpochsWithoutAStep) {
  EXPECT_THROW(Deal({.count = 0, .batch = 4}), Error);
  EXPECT_THROW(Deal({.count = 3, .batch = 4, .is_last_dropped = true}), Error);
  EXPECT_THROW(Deal({.count = 3, .batch = 0}), Error);
  EXPECT_THROW(Deal({.count = 3, .batch = 1, .slots = 0}), Error);
  const Deal deal({.count = 3, .batch = 4});
  EXPECT_THROW(deal.places({}, 1), Error);
  EXPECT_THROW(deal.total({.epoch = 0, .cursor = 4}), Error);
  EXPECT_THROW(deal.total({.epoch = 0, .cursor = -1}), Error);
}

}  // namespace
}  // namespace trireme::data
