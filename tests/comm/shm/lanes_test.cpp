// Goal:   every other member reads what a member publishes in its lane, words only increase, lanes
//         do not overlap, and the board shows the progress of a missing member.
// Method: three Lanes of one block in one thread; sleeping members are simulated by their doorbell.

#include "trireme/comm/shm/lanes.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace trireme::comm::shm {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kKey = 77;
constexpr int kMembers = 3;

class LanesTest : public ::testing::Test {
 protected:
  // Members are ranks 10, 11 and 12 of the job, so that the two numberings cannot be confused.
  LanesTest() {
    for (int me = 0; me < kMembers; ++me) lanes_.push_back(open(me));
  }
  std::unique_ptr<Lanes> open(int me) {
    const std::vector<Lanes::Member> members{{0, 10}, {1, 11}, {2, 12}};
    return std::make_unique<Lanes>(arena_, members, me, kKey, Deadline::after(10s));
  }
  static Operation operation(std::uint64_t sequence, std::string label = "") {
    Operation op;
    op.request.kind = OpKind::AllReduce;
    op.sequence = sequence;
    op.label = std::move(label);
    return op;
  }
  void publish(int member, Word Slot::* stage, std::uint64_t sequence, std::uint32_t steps) {
    Lanes& mine = *lanes_[static_cast<std::size_t>(member)];
    mine.publish(mine.slot(member, sequence).*stage, Lanes::stage_word(sequence, steps));
  }

  std::shared_ptr<Arena> arena_ = Arena::create({.members = kMembers});
  std::vector<std::unique_ptr<Lanes>> lanes_;
};

TEST_F(LanesTest, MembersKnowTheirRanks) {
  EXPECT_EQ(lanes_[1]->me(), 1);
  EXPECT_EQ(lanes_[1]->size(), 3);
  EXPECT_EQ(lanes_[1]->job_rank(2), 12);
  EXPECT_EQ(&lanes_[0]->slot(2, 5), &lanes_[2]->slot(2, 5)) << "one block";
}

// A member is killed inside an operation while it accesses the memory of another. That memory is
// used again when the epoch of the group is over.
TEST_F(LanesTest, MemoryThatADeadMemberAccessedIsFreedAfterTheEpoch) {
  const std::vector<Lanes::Member> members{{0, 10}, {1, 11}};
  Lanes survivor(arena_, members, 0, kKey + 1, Deadline::after(10s), /*epoch=*/4);
  const Lanes dead(arena_, members, 1, kKey + 1, Deadline::after(10s), /*epoch=*/4);
  Piece piece = arena_->allocate(0, 4096);
  std::byte* const data = piece.data();
  survivor.expose(data, 4096);
  ASSERT_TRUE(dead.begin_stride());
  survivor.close();
  piece = Piece();
  arena_->end_quarantine(4);
  EXPECT_NE(arena_->allocate(0, 4096).data(), data);
  arena_->end_quarantine(5);
  EXPECT_EQ(arena_->allocate(0, 4096).data(), data);
}

TEST_F(LanesTest, LanesDoNotOverlap) {
  std::map<std::byte*, std::size_t> areas;
  Lanes& lanes = *lanes_[0];
  ASSERT_TRUE(lanes.open_windows());
  for (int m = 0; m < kMembers; ++m) {
    for (std::uint64_t s = 0; s < kInFlight; ++s) {
      areas[reinterpret_cast<std::byte*>(&lanes.slot(m, s))] = sizeof(Slot);
      areas[lanes.eager(m, s)] = kEagerSize;
    }
    for (std::uint32_t round = 0; round < kWindows; ++round) {
      areas[lanes.staged(m, round)] = kWindowSize;
      areas[lanes.result(m, round)] = kWindowSize;
    }
  }
  EXPECT_EQ(areas.size(), kMembers * (2 * kInFlight + 2 * kWindows));
  std::byte* end = nullptr;
  for (const auto& [begin, size] : areas) {
    EXPECT_GE(begin, end);
    end = begin + size;
    EXPECT_TRUE(arena_->contains(begin, size));
  }
  EXPECT_EQ(lanes.eager(1, 3), lanes.eager(1, 3 + kInFlight)) << "slots are used cyclically";
  EXPECT_EQ(lanes.staged(1, 0), lanes.staged(1, kWindows));
}

TEST_F(LanesTest, AStageIsReachedWhenTheLastMemberReachesIt) {
  EXPECT_FALSE(lanes_[0]->everyone(&Slot::entered, 1, 1));
  for (const int m : {2, 0}) publish(m, &Slot::entered, 1, 1);
  EXPECT_FALSE(lanes_[1]->everyone(&Slot::entered, 1, 1));
  publish(1, &Slot::entered, 1, 1);
  for (const auto& lanes : lanes_) EXPECT_TRUE(lanes->everyone(&Slot::entered, 1, 1));
  EXPECT_FALSE(lanes_[0]->everyone(&Slot::entered, 1, 2));
  EXPECT_FALSE(lanes_[0]->everyone(&Slot::finished, 1, 1)) << "stages are counted separately";
  EXPECT_FALSE(lanes_[0]->everyone(&Slot::entered, 2, 1)) << "operations are counted separately";
}

TEST_F(LanesTest, LeastReturnsTheProgressOfTheSlowestMember) {
  EXPECT_EQ(lanes_[0]->least(&Slot::produced, 4), 0u);
  publish(0, &Slot::produced, 4, 7);
  publish(1, &Slot::produced, 4, 3);
  EXPECT_EQ(lanes_[0]->least(&Slot::produced, 4), 0u) << "one has not begun";
  publish(2, &Slot::produced, 4, 5);
  EXPECT_EQ(lanes_[2]->least(&Slot::produced, 4), 3u);
}

TEST_F(LanesTest, ALaterOperationInTheSameSlotCountsAsReached) {
  for (int m = 0; m < kMembers; ++m) publish(m, &Slot::finished, 2, 1);
  publish(0, &Slot::finished, 2 + kInFlight, 1);
  EXPECT_TRUE(lanes_[1]->everyone(&Slot::finished, 2, 1));
  EXPECT_FALSE(lanes_[1]->everyone(&Slot::finished, 2 + kInFlight, 1));
  EXPECT_GT(lanes_[1]->least(&Slot::finished, 2), 0u);
}

TEST_F(LanesTest, WordsDoNotOverflowAfterManyOperations) {
  const std::uint64_t many = std::uint64_t{1} << 36;  // at one microsecond each: 19 hours
  EXPECT_GT(Lanes::stage_word(many, 0), Lanes::stage_word(many - 1, 1 << 20));
  EXPECT_GT(Lanes::stage_word(many, 1 << 20), Lanes::stage_word(many, 0));
}

TEST_F(LanesTest, PublishingWakesOnlySleepingMembers) {
  arena_->doorbell(1).is_asleep = 1;
  publish(0, &Slot::entered, 1, 1);
  EXPECT_EQ(arena_->doorbell(1).rings, 1u);
  EXPECT_EQ(arena_->doorbell(2).rings, 0u);
  EXPECT_EQ(arena_->doorbell(0).rings, 0u) << "not oneself";
}

TEST_F(LanesTest, TheBoardNamesARankThatNeverEntered) {
  const Operation op = operation(3, "bucket 2");
  publish(0, &Slot::entered, 3, 1);
  publish(2, &Slot::entered, 3, 1);
  lanes_[1]->note(operation(2, "bucket 1"), Phase::Entered);
  const std::string text = lanes_[0]->describe_missing(op);
  EXPECT_NE(text.find("rank 11 never entered all_reduce #3 (bucket 2)"), std::string::npos) << text;
  EXPECT_NE(text.find("it is inside all_reduce #2 (bucket 1) since"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("; ranks 10, 12")) << "the waiting ranks are named last: " << text;
  EXPECT_EQ(text.find("rank 12 "), std::string::npos) << "rank 12 is not missing: " << text;
  EXPECT_EQ(lanes_[0]->first_absent(op), 11);
}

TEST_F(LanesTest, TheBoardDistinguishesFinishedFromNeverBegun) {
  lanes_[1]->note(operation(2), Phase::Entered);
  lanes_[1]->note(operation(2), Phase::Finished);
  const std::string text = lanes_[0]->describe_missing(operation(3));
  EXPECT_NE(text.find("it finished all_reduce #2 "), std::string::npos) << text;
  EXPECT_NE(text.find(" s ago"), std::string::npos) << text;
  EXPECT_EQ(text.find(" since "), std::string::npos) << text;
  EXPECT_NE(text.find("it has not begun any operation of this group"), std::string::npos) << text;
}

TEST_F(LanesTest, TheBoardNamesTheFinishedOperation) {
  lanes_[1]->note(operation(2, "bucket 1"), Phase::Entered);
  lanes_[1]->note(operation(3, "bucket 2"), Phase::Entered);
  lanes_[1]->note(operation(2, "bucket 1"), Phase::Finished);
  const std::string text = lanes_[0]->describe_missing(operation(4));
  EXPECT_NE(text.find("it finished all_reduce #2 (bucket 1) "), std::string::npos) << text;
}

TEST_F(LanesTest, TheBoardDistinguishesMovingFromWaitingRanks) {
  publish(1, &Slot::entered, 3, 1);
  publish(2, &Slot::entered, 3, 1);
  lanes_[1]->note(operation(3), Phase::Moving);
  lanes_[2]->note(operation(3), Phase::Entered);
  const std::string text = lanes_[0]->describe_missing(operation(3));
  EXPECT_NE(text.find("rank 11 entered all_reduce #3 and did not finish it (it moves data in"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("rank 12 entered all_reduce #3 and did not finish it (it is inside"),
            std::string::npos)
      << text;
  EXPECT_FALSE(lanes_[0]->first_absent(operation(3)))
      << "any of them may be waiting for the others";
}

TEST_F(LanesTest, ARankMissingInTheSecondHalfOfAnOrderedSumIsNamed) {
  Operation sum = operation(5, "loss");
  sum.request.kind = OpKind::OrderedSum;
  std::string text = lanes_[0]->describe_missing(sum);
  EXPECT_NE(text.find("rank 11 never entered ordered_sum #5 (loss)"), std::string::npos) << text;
  for (int m = 0; m < kMembers; ++m) publish(m, &Slot::finished, 5, 1);
  publish(2, &Slot::finished, 6, 1);
  text = lanes_[0]->describe_missing(sum);
  EXPECT_NE(text.find("rank 11 never entered the second half of ordered_sum #5"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("rank 12"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("; rank 10")) << text;
}

TEST_F(LanesTest, LongLabelsAreCut) {
  lanes_[1]->note(operation(2, std::string(200, 'x')), Phase::Entered);
  const std::string text = lanes_[0]->describe_missing(operation(3));
  EXPECT_NE(text.find("(" + std::string(39, 'x') + ")"), std::string::npos) << text;
}

TEST_F(LanesTest, TheBoardStatesThatEveryRankEntered) {
  for (int m = 0; m < kMembers; ++m) publish(m, &Slot::finished, 3, 1);
  EXPECT_EQ(lanes_[0]->describe_missing(operation(3)), "every rank entered all_reduce #3; rank 10");
}

TEST_F(LanesTest, TheFirstAnnouncementReachesAllMembers) {
  EXPECT_FALSE(lanes_[0]->failure().has_value());
  arena_->doorbell(0).is_asleep = 1;
  lanes_[1]->announce(Error(ErrorCode::Exhausted, "out of memory"));
  lanes_[2]->announce(Error(ErrorCode::Io, "too late"));
  for (const auto& lanes : lanes_) {
    const auto error = lanes->failure();
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::RemoteFailure);
    EXPECT_EQ(error->peer(), 11);
    EXPECT_EQ(error->rank(), lanes->job_rank(lanes->me()));
    EXPECT_NE(error->message().find("out of memory"), std::string::npos) << error->what();
  }
  EXPECT_EQ(arena_->doorbell(0).rings, 1u) << "sleepers are woken";
}

TEST_F(LanesTest, AnAnnouncedMismatchStaysAMismatchAndLongTextsAreCut) {
  lanes_[0]->announce(Error(ErrorCode::Mismatch, std::string(5000, 'm')));
  EXPECT_EQ(lanes_[1]->failure()->code(), ErrorCode::Mismatch);
  EXPECT_GT(lanes_[1]->failure()->message().size(), 400u);
}

TEST_F(LanesTest, TheBlockExistsAsLongAsOneMember) {
  publish(2, &Slot::entered, 1, 9);
  lanes_[0].reset();
  lanes_[2].reset();
  EXPECT_EQ(lanes_[1]->slot(2, 1).entered.load(), Lanes::stage_word(1, 9));
  lanes_[1].reset();
  lanes_[0] = open(0);
  EXPECT_EQ(lanes_[0]->slot(2, 1).entered.load(), 0u) << "a new block of the same key is zero";
}

}  // namespace
}  // namespace trireme::comm::shm
