// Goal:   a fault point calls the attached Faults, and does nothing if there are none.
// Method: Faults that record, Faults that throw, and none.

#include "trireme/base/fault.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "trireme/base/error.h"

namespace trireme {
namespace {

constexpr FaultPoint kBegun{"work.begun"};
constexpr FaultPoint kEnded{"work.ended"};

void work(Faults* faults, int rank) {
  reach(faults, kBegun, rank);
  reach(faults, kEnded, rank);
}

class Recorder : public Faults {
 public:
  void reached(FaultPoint point, int rank) override {
    if (point == refused) throw Error(ErrorCode::Aborted, "injected").with_rank(rank);
    seen.emplace_back(point.name, rank);
  }
  FaultPoint refused{"none"};
  std::vector<std::pair<std::string, int>> seen;
};

TEST(Fault, PointsAreReachedInOrderWithTheirRank) {
  Recorder recorder;
  work(&recorder, 3);
  const std::vector<std::pair<std::string, int>> expected{{"work.begun", 3}, {"work.ended", 3}};
  EXPECT_EQ(recorder.seen, expected);
}

TEST(Fault, MayThrowAnError) {
  Recorder recorder;
  recorder.refused = kEnded;
  EXPECT_THROW(work(&recorder, 1), Error);
  EXPECT_EQ(recorder.seen.size(), 1u);
}

TEST(Fault, WithoutFaultsPointsDoNothing) {
  EXPECT_NO_THROW(work(nullptr, 0));
}

TEST(Fault, PointsAreComparedByTheirNames) {
  const std::string name = "work.begun";
  EXPECT_EQ(FaultPoint{name}, kBegun);
  EXPECT_FALSE(kBegun == kEnded);
}

}  // namespace
}  // namespace trireme
