// Goal:   every other member reads what a member publishes in its lane, words only increase, and
//         lanes do not overlap.
// Method: three Lanes of one block in one thread; sleeping members are simulated by their doorbell.

#include "trireme/comm/shm/lanes.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "tests/comm/shm/three_lanes.h"

namespace trireme::comm::shm {
namespace {

class LanesTest : public ThreeLanes {};

TEST_F(LanesTest, MembersKnowTheirRanks) {
  EXPECT_EQ(lanes_[1]->me(), 1);
  EXPECT_EQ(lanes_[1]->size(), 3);
  EXPECT_EQ(lanes_[1]->job_rank(2), 12);
  EXPECT_EQ(&lanes_[0]->slot(2, 5), &lanes_[2]->slot(2, 5)) << "one block";
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
