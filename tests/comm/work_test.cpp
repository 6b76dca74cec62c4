// Goal:   a Work ends as its contract says: by wait(), is_done(), its destructor, or by being
//         abandoned during exception unwinding.
// Method: two ranks as threads; the second one enters late, never, or from the same thread.

#include "trireme/comm/work.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "trireme/comm/connect_threads.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

class WorkTest : public ::testing::Test {
 protected:
  static constexpr auto kTimeout = 30s;
  std::vector<Group> groups_ = connect_threads(2, {.timeout = kTimeout});
  std::vector<float> mine_ = std::vector<float>(5, 1.0f);
  std::vector<float> theirs_ = std::vector<float>(5, 2.0f);

  Work first() { return groups_[0].all_reduce(span(mine_), ReduceOp::Sum); }
  Work second() { return groups_[1].all_reduce(span(theirs_), ReduceOp::Sum); }
};

TEST_F(WorkTest, AnEmptyWorkIsDone) {
  Work none;
  none.wait();
  EXPECT_TRUE(none.is_done());
  EXPECT_TRUE(Group::solo().barrier().is_done());
}

TEST_F(WorkTest, IsDoneOnceEveryRankEntered) {
  Work mine = first();
  EXPECT_FALSE(mine.is_done());
  Work theirs = second();
  EXPECT_TRUE(theirs.is_done());
  EXPECT_TRUE(mine.is_done());
  EXPECT_EQ(mine_[4], 3.0f);
  EXPECT_EQ(theirs_[4], 3.0f);
  mine.wait();
  EXPECT_TRUE(mine.is_done()) << "is_done() can be called again";
}

TEST_F(WorkTest, MayBeWaitedForOnAnotherThread) {
  Work mine = first();
  std::thread waiter([&] { mine.wait(); });
  second().wait();
  waiter.join();
  EXPECT_EQ(mine_[0], 3.0f);
}

TEST_F(WorkTest, TheDestructorWaits) {
  std::thread late([&] {
    std::this_thread::sleep_for(5ms);
    second().wait();
  });
  {
    const Work mine = first();
  }
  EXPECT_EQ(mine_[0], 3.0f) << "the span may be freed now";
  late.join();
}

TEST_F(WorkTest, MovesKeepTheOperation) {
  Work mine = first();
  Work moved = std::move(mine);
  EXPECT_TRUE(mine.is_done());  // NOLINT: moved from, on purpose
  EXPECT_FALSE(moved.is_done());
  Work theirs = second();
  Work target;
  target = std::move(moved);
  target.wait();
  theirs.wait();
  EXPECT_EQ(mine_[0], 3.0f);
}

TEST_F(WorkTest, AssigningOverAnOperationWaitsForIt) {
  Work mine = first();
  Work theirs = second();
  mine = Work();
  EXPECT_EQ(mine_[0], 3.0f);
  theirs.wait();
}

TEST_F(WorkTest, IsAbandonedWhenAnExceptionPasses) {
  const TimePoint begun = steady_clock().now();
  try {
    const Work mine = first();
    throw std::runtime_error("out of memory");
  } catch (const std::runtime_error&) {
    EXPECT_LT(steady_clock().now() - begun, kTimeout) << "waited for a rank that never comes";
  }
  ASSERT_TRUE(groups_[0].error().has_value());
  EXPECT_EQ(groups_[0].error()->code(), ErrorCode::Aborted);
}

TEST_F(WorkTest, WorkStartedDuringUnwindingIsWaitedFor) {
  const auto clean_up = [this](int*) {
    Work mine = first();
    Work theirs = second();
  };
  int anything = 0;
  try {
    const std::unique_ptr<int, decltype(clean_up)> cleaning(&anything, clean_up);
    throw std::runtime_error("passing");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(mine_[0], 3.0f);
    EXPECT_FALSE(groups_[0].error().has_value());
  }
}

TEST_F(WorkTest, EveryWaitRepeatsTheError) {
  Work mine = first();
  groups_[0].abort(Error(ErrorCode::Aborted, "enough"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(mine.wait(), Error);
    EXPECT_THROW((void)mine.is_done(), Error);
  }
}

TEST_F(WorkTest, AllAreWaitedForBeforeTheFirstErrorIsThrown) {
  const auto others = connect_threads(2, {.timeout = 30s});
  std::vector<float> more(3, 1.0f), their_more(3, 1.0f);
  std::vector<Work> works;
  works.push_back(first());
  works.push_back(others[0].all_reduce(span(more), ReduceOp::Sum));
  groups_[0].abort(Error(ErrorCode::Aborted, "enough"));
  Work theirs = others[1].all_reduce(span(their_more), ReduceOp::Sum);
  EXPECT_THROW(wait_all(works), Error);
  EXPECT_EQ(more[0], 2.0f) << "the operation after the failed one";
  EXPECT_TRUE(works.empty());
  theirs.wait();
  wait_all(works);
}

}  // namespace
}  // namespace trireme::comm
