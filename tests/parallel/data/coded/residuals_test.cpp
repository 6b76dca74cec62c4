// Goal:   residuals of a step count from commit() on and not before; another rank takes over the
//         residuals of a failed rank as of the last completed step, once.
// Method: two places of one arena in one thread; the owner of one stops at different moments.

#include "trireme/parallel/data/coded/residuals.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace trireme::parallel::data {
namespace {

constexpr std::int64_t kOwed = 5, kKept = 3;

class ResidualsTest : public ::testing::Test {
 protected:
  Residuals at(int place) const {
    return Residuals({.residual = kOwed,
                      .kept = kKept,
                      .is_undoable = true,
                      .shared = {.arena = arena_, .key = 77, .place = place}});
  }
  static void write(Residuals& of, float value) {
    for (const ElementRange range : {ElementRange{0, 2}, ElementRange{2, kOwed + kKept}}) {
      for (float& one : of.open(range)) one += value;
    }
  }
  static float residual(const Residuals& of) {
    return of.current().narrow(0, 0, kOwed).sum().item<float>();
  }
  static float kept(const Residuals& of) {
    return of.current().narrow(0, kOwed, kKept).sum().item<float>();
  }

  std::shared_ptr<comm::Arena> arena_ =
      comm::Arena::create({.members = 2, .segment_size = 1 << 20});
};

TEST_F(ResidualsTest, CountFromCommitOn) {
  Residuals own = at(0);
  own.begin(0);
  write(own, 1);
  EXPECT_EQ(residual(own), 0);
  own.commit();
  EXPECT_EQ(residual(own), kOwed);
  own.begin(1);
  write(own, 1);
  own.begin(1);  // the step runs again
  write(own, 2);
  own.commit();
  EXPECT_EQ(residual(own), 3 * kOwed);
  EXPECT_EQ(kept(own), 3 * kKept);
  own.begin(2);
  own.commit();  // a step that encoded nothing
  EXPECT_EQ(residual(own), 3 * kOwed);
}

TEST_F(ResidualsTest, WithOneVersionCountAtOnce) {
  Residuals own({.residual = kOwed, .kept = kKept});
  own.begin(0);
  write(own, 1);
  EXPECT_EQ(residual(own), kOwed);
  own.commit();
  EXPECT_EQ(residual(own), kOwed);
}

TEST_F(ResidualsTest, AreInheritedAsOfTheLastCompletedStep) {
  for (const bool is_ended : {false, true}) {
    Residuals dead = at(1);
    dead.begin(6);
    write(dead, 1);
    dead.commit();
    dead.begin(7);
    write(dead, 10);  // the rank dies before it can commit
    Residuals successor = at(0);
    successor.begin(7);
    write(successor, 100);
    if (is_ended) successor.commit();
    successor.inherit(1, is_ended ? 7 : 6);
    EXPECT_EQ(residual(successor), is_ended ? 111 * kOwed : kOwed);
    EXPECT_EQ(kept(successor), is_ended ? 100 * kKept : 0)
        << "a successor does not take over codec state";
    successor.inherit(1, 7);
    EXPECT_EQ(residual(successor), is_ended ? 111 * kOwed : kOwed) << "taken over only once";
  }
}

TEST_F(ResidualsTest, ANewRankOfAPlaceHasNoResiduals) {
  Residuals dead = at(1);
  dead.begin(0);
  write(dead, 1);
  dead.commit();
  EXPECT_EQ(residual(at(1)), 0);
}

}  // namespace
}  // namespace trireme::parallel::data
