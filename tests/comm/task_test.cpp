// Goal:   a Task continues when its condition holds, nests, passes exceptions outwards, and
//         releases everything when it is dropped before it ends.
// Method: small coroutines over flags and counters; every frame holds a Guest that is counted.

#include "trireme/comm/task.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace trireme::comm {
namespace {

// Counts its instances, so that a frame that leaks or is destroyed twice is detected.
struct Guest {
  explicit Guest(int& present) : present_(present) { ++present_; }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest() { --present_; }
  int& present_;
};

struct Stage {
  bool is_open = false;
  int polls = 0;
  int passed = 0;
  int guests = 0;
};

Task wait_for(Stage& stage) {
  Guest guest(stage.guests);
  co_await until([&] { return ++stage.polls, stage.is_open; });
  ++stage.passed;
}

Task nested(Stage& stage, int depth) {
  Guest guest(stage.guests);
  if (depth == 0)
    co_await wait_for(stage);
  else
    co_await nested(stage, depth - 1);
  ++stage.passed;
}

Task throwing(Stage& stage, int depth) {
  Guest guest(stage.guests);
  if (depth == 0) {
    co_await wait_for(stage);
    throw std::runtime_error("from the innermost");
  }
  co_await throwing(stage, depth - 1);
  ++stage.passed;
}

TEST(Task, DoesNotStartBeforeItsFirstStep) {
  Stage stage;
  Task task = wait_for(stage);
  EXPECT_EQ(stage.guests, 0);
  EXPECT_FALSE(task.is_done());
}

TEST(Task, ContinuesOnceItsConditionHolds) {
  Stage stage;
  Task task = wait_for(stage);
  EXPECT_EQ(task.step(), Task::Step::Moved);
  EXPECT_EQ(task.step(), Task::Step::Waiting);
  EXPECT_EQ(task.step(), Task::Step::Waiting);
  stage.is_open = true;
  EXPECT_EQ(task.step(), Task::Step::Done);
  EXPECT_EQ(stage.passed, 1);
  EXPECT_EQ(stage.guests, 0);
  const int polls = stage.polls;
  EXPECT_EQ(task.step(), Task::Step::Done);
  EXPECT_EQ(stage.polls, polls) << "a finished task polls nothing";
}

TEST(Task, DoesNotWaitForAConditionThatHolds) {
  Stage stage{.is_open = true};
  Task task = wait_for(stage);
  EXPECT_EQ(task.step(), Task::Step::Done);
  EXPECT_EQ(stage.polls, 1);
}

TEST(Task, NestsAndPollsOnlyTheInnermostCondition) {
  Stage stage;
  Task task = nested(stage, 100);
  task.step();
  EXPECT_EQ(stage.guests, 102);
  EXPECT_EQ(task.step(), Task::Step::Waiting);
  EXPECT_EQ(stage.polls, 2) << "one poll per step at any depth";
  stage.is_open = true;
  EXPECT_EQ(task.step(), Task::Step::Done);
  EXPECT_EQ(stage.passed, 102);
  EXPECT_EQ(stage.guests, 0);
}

TEST(Task, AwaitsSeveralTasksInOrder) {
  std::vector<Stage> stages(3);
  const auto all = [](std::vector<Stage>& each) -> Task {
    for (Stage& stage : each) co_await wait_for(stage);
  };
  Task task = all(stages);
  task.step();
  for (Stage& stage : stages) {
    EXPECT_EQ(task.step(), Task::Step::Waiting);
    EXPECT_EQ(stage.guests, 1);
    stage.is_open = true;
    EXPECT_NE(task.step(), Task::Step::Waiting);
    EXPECT_EQ(stage.passed, 1);
  }
  EXPECT_TRUE(task.is_done());
}

TEST(Task, ManyTasksThatNeverWaitUseNoStack) {
#if defined(TRIREME_IS_SANITIZED) || !defined(__OPTIMIZE__)
  GTEST_SKIP() << "only optimized builds turn the hand-over between coroutines into a jump";
#endif
  const auto ready = []() -> Task { co_return; };
  const auto many = [&](int count) -> Task {
    for (int i = 0; i < count; ++i) co_await ready();
  };
  Task task = many(100000);
  EXPECT_EQ(task.step(), Task::Step::Done);
}

TEST(Task, AnExceptionReachesTheOutermostStep) {
  Stage stage;
  Task task = throwing(stage, 5);
  task.step();
  stage.is_open = true;
  EXPECT_THROW(task.step(), std::runtime_error);
  EXPECT_EQ(stage.guests, 0) << "all frames were unwound";
  EXPECT_EQ(stage.passed, 1) << "only the wait itself went on";
  EXPECT_TRUE(task.is_done());
  EXPECT_EQ(task.step(), Task::Step::Done) << "thrown once";
}

TEST(Task, AnOuterTaskMayCatchAndContinue) {
  Stage first{.is_open = true}, second;
  const auto outer = [](Stage& a, Stage& b) -> Task {
    try {
      co_await throwing(a, 2);
    } catch (const std::runtime_error&) {
      ++a.passed;
    }
    co_await wait_for(b);
  };
  Task task = outer(first, second);
  EXPECT_EQ(task.step(), Task::Step::Moved);
  EXPECT_EQ(first.passed, 2);
  EXPECT_EQ(task.step(), Task::Step::Waiting);
  second.is_open = true;
  EXPECT_EQ(task.step(), Task::Step::Done);
}

TEST(Task, DroppingAnUnfinishedTaskDestroysTheWholeChain) {
  Stage stage;
  {
    Task task = nested(stage, 10);
    task.step();
    EXPECT_EQ(stage.guests, 12);
  }
  EXPECT_EQ(stage.guests, 0);
  EXPECT_EQ(stage.passed, 0);
  {
    Task never_begun = nested(stage, 3);
  }
  EXPECT_EQ(stage.guests, 0);
}

TEST(Task, MovingATaskKeepsItsState) {
  Stage stage, other;
  Task task = nested(stage, 3);
  task.step();
  Task moved = std::move(task);
  EXPECT_TRUE(task.is_done());  // NOLINT: moved from, on purpose
  EXPECT_EQ(moved.step(), Task::Step::Waiting);
  Task target = nested(other, 1);
  target.step();
  target = std::move(moved);
  EXPECT_EQ(other.guests, 0) << "the previous task was destroyed";
  stage.is_open = true;
  EXPECT_EQ(target.step(), Task::Step::Done);
}

TEST(Task, AStoredTaskMayBeAwaitedLater) {
  Stage stage;
  const auto outer = [](Stage& s) -> Task {
    Task early = wait_for(s);
    ++s.passed;
    co_await std::move(early);
  };
  Task task = outer(stage);
  task.step();
  EXPECT_EQ(stage.passed, 1);
  stage.is_open = true;
  EXPECT_EQ(task.step(), Task::Step::Done);
  EXPECT_EQ(stage.passed, 2);
}

TEST(Task, GiveWaySuspendsExactlyOnce) {
  int passed = 0;
  const auto work = [](int& count) -> Task {
    for (; count < 3; ++count) co_await GiveWay{};
  };
  Task task = work(passed);
  EXPECT_EQ(task.step(), Task::Step::Moved);
  EXPECT_EQ(task.step(), Task::Step::Moved);
  EXPECT_EQ(passed, 1);
  EXPECT_EQ(task.step(), Task::Step::Moved);
  EXPECT_EQ(task.step(), Task::Step::Done);
}

TEST(Task, AnEmptyTaskIsDone) {
  Task none;
  EXPECT_TRUE(none.is_done());
  EXPECT_EQ(none.step(), Task::Step::Done);
  const auto awaits_nothing = []() -> Task { co_await Task(); };
  Task task = awaits_nothing();
  EXPECT_EQ(task.step(), Task::Step::Done);
}

}  // namespace
}  // namespace trireme::comm
