// Goal:   the progress board shows what a missing member does, and names the members that an
//         operation waits for.
// Method: three Lanes of one block in one thread; some members enter operations, others do not.

#include "trireme/comm/shm/board.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/comm/shm/three_lanes.h"

namespace trireme::comm::shm {
namespace {

class BoardTest : public ThreeLanes {};

TEST_F(BoardTest, TheBoardNamesARankThatNeverEntered) {
  const Operation op = operation(3, "bucket 2");
  publish(0, &Slot::entered, 3, 1);
  publish(2, &Slot::entered, 3, 1);
  note(*lanes_[1], operation(2, "bucket 1"), Phase::Entered);
  const std::string text = describe_missing(*lanes_[0], op);
  EXPECT_NE(text.find("rank 11 never entered all_reduce #3 (bucket 2)"), std::string::npos) << text;
  EXPECT_NE(text.find("it is inside all_reduce #2 (bucket 1) since"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("; ranks 10, 12")) << "the waiting ranks are named last: " << text;
  EXPECT_EQ(text.find("rank 12 "), std::string::npos) << "rank 12 is not missing: " << text;
  EXPECT_EQ(first_absent(*lanes_[0], op), 11);
}

TEST_F(BoardTest, TheBoardDistinguishesFinishedFromNeverBegun) {
  note(*lanes_[1], operation(2), Phase::Entered);
  note(*lanes_[1], operation(2), Phase::Finished);
  const std::string text = describe_missing(*lanes_[0], operation(3));
  EXPECT_NE(text.find("it finished all_reduce #2 "), std::string::npos) << text;
  EXPECT_NE(text.find(" s ago"), std::string::npos) << text;
  EXPECT_EQ(text.find(" since "), std::string::npos) << text;
  EXPECT_NE(text.find("it has not begun any operation of this group"), std::string::npos) << text;
}

TEST_F(BoardTest, TheBoardNamesTheFinishedOperation) {
  note(*lanes_[1], operation(2, "bucket 1"), Phase::Entered);
  note(*lanes_[1], operation(3, "bucket 2"), Phase::Entered);
  note(*lanes_[1], operation(2, "bucket 1"), Phase::Finished);
  const std::string text = describe_missing(*lanes_[0], operation(4));
  EXPECT_NE(text.find("it finished all_reduce #2 (bucket 1) "), std::string::npos) << text;
}

TEST_F(BoardTest, TheBoardDistinguishesMovingFromWaitingRanks) {
  publish(1, &Slot::entered, 3, 1);
  publish(2, &Slot::entered, 3, 1);
  note(*lanes_[1], operation(3), Phase::Moving);
  note(*lanes_[2], operation(3), Phase::Entered);
  const std::string text = describe_missing(*lanes_[0], operation(3));
  EXPECT_NE(text.find("rank 11 entered all_reduce #3 and did not finish it (it moves data in"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("rank 12 entered all_reduce #3 and did not finish it (it is inside"),
            std::string::npos)
      << text;
  EXPECT_FALSE(first_absent(*lanes_[0], operation(3)))
      << "any of them may be waiting for the others";
}

TEST_F(BoardTest, ARankMissingInTheSecondHalfOfAnOrderedSumIsNamed) {
  Operation sum = operation(5, "loss");
  sum.request.kind = OpKind::OrderedSum;
  std::string text = describe_missing(*lanes_[0], sum);
  EXPECT_NE(text.find("rank 11 never entered ordered_sum #5 (loss)"), std::string::npos) << text;
  for (int m = 0; m < kMembers; ++m) publish(m, &Slot::finished, 5, 1);
  publish(2, &Slot::finished, 6, 1);
  text = describe_missing(*lanes_[0], sum);
  EXPECT_NE(text.find("rank 11 never entered the second half of ordered_sum #5"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("rank 12"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("; rank 10")) << text;
}

TEST_F(BoardTest, LongLabelsAreCut) {
  note(*lanes_[1], operation(2, std::string(200, 'x')), Phase::Entered);
  const std::string text = describe_missing(*lanes_[0], operation(3));
  EXPECT_NE(text.find("(" + std::string(39, 'x') + ")"), std::string::npos) << text;
}

TEST_F(BoardTest, TheBoardStatesThatEveryRankEntered) {
  for (int m = 0; m < kMembers; ++m) publish(m, &Slot::finished, 3, 1);
  EXPECT_EQ(describe_missing(*lanes_[0], operation(3)),
            "every rank entered all_reduce #3; rank 10");
}

}  // namespace
}  // namespace trireme::comm::shm
