// Goal:   the last few and the best few checkpoints are kept, and always the newest.
// Method: small lists, with both directions of better, equal scores and no scores.

#include "trireme/checkpoint/format/shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trireme::checkpoint::format {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<Scored> kHeld{{10, 3.0}, {20, 1.0}, {30, 2.0}, {40, std::nullopt}, {50, NAN}};

TEST(Retention, KeepsTheLastAndTheBest) {
  EXPECT_THAT(steps_to_remove(kHeld, {.keep_last = 2, .keep_best = 0}), ElementsAre(10, 20, 30));
  EXPECT_THAT(steps_to_remove(kHeld, {.keep_last = 1, .keep_best = 1}), ElementsAre(10, 30, 40));
  EXPECT_THAT(steps_to_remove(kHeld, {.keep_last = 1, .keep_best = 2, .is_higher_better = true}),
              ElementsAre(20, 40));
  EXPECT_THAT(steps_to_remove(kHeld, {.keep_last = 9, .keep_best = 9}), IsEmpty());
}

TEST(Retention, ZeroKeepsAll) {
  EXPECT_THAT(steps_to_remove(kHeld, {.keep_last = 0, .keep_best = 1}), IsEmpty());
  EXPECT_THAT(steps_to_remove({}, {.keep_last = 1}), IsEmpty());
}

TEST(Retention, OfEqualScoresTheEarlierIsKept) {
  EXPECT_THAT(steps_to_remove({{1, 5.0}, {2, 5.0}, {3, 6.0}}, {.keep_last = 1, .keep_best = 1}),
              ElementsAre(2));
}

}  // namespace
}  // namespace trireme::checkpoint::format
