// Goal:   members access exposed memory only while no member has given up, and memory that a dead
//         member may still access is not used again before its epoch ends.
// Method: the words of two members in this test's own memory, and the lanes of two members.

#include "trireme/comm/shm/exposure.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "trireme/comm/shm/lanes.h"

namespace trireme::comm::shm {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kKey = 78;

class ExposureTest : public ::testing::Test {
 protected:
  std::shared_ptr<Arena> arena_ = Arena::create({.members = 2});
  StrideWords words_[2]{};
  Exposure first_{arena_, {&words_[0], &words_[1]}, 0, 0};
  Exposure second_{arena_, {&words_[0], &words_[1]}, 1, 0};
};

TEST_F(ExposureTest, AStrideIsSeenByOthersUntilItEnds) {
  std::uint64_t during = 0;
  EXPECT_TRUE(first_.stride([&] { during = words_[0].busy; }));
  EXPECT_EQ(during, 1u);
  EXPECT_EQ(words_[0].busy, 0u);
  EXPECT_EQ(words_[1].busy, 0u);
}

TEST_F(ExposureTest, NoStrideBeginsAfterAMemberHasGivenUp) {
  second_.close();
  bool has_run = false;
  EXPECT_FALSE(first_.stride([&] { has_run = true; }));
  EXPECT_FALSE(has_run);
  EXPECT_EQ(words_[0].busy, 0u);
  EXPECT_TRUE(first_.has_closed(1));
  EXPECT_FALSE(first_.has_closed(0));
}

TEST_F(ExposureTest, AStrideDuringWhichAMemberGivesUpIsNotSound) {
  EXPECT_FALSE(first_.stride([&] { second_.close(); }));
}

// A member is killed inside an operation while it accesses the memory of another. That memory is
// used again when the epoch of the group is over.
TEST(Exposure, MemoryThatADeadMemberAccessedIsFreedAfterTheEpoch) {
  const std::shared_ptr<Arena> arena = Arena::create({.members = 2});
  const std::vector<Lanes::Member> members{{0, 10}, {1, 11}};
  Lanes survivor(arena, members, 0, kKey, Deadline::after(10s), /*epoch=*/4);
  const Lanes dead(arena, members, 1, kKey, Deadline::after(10s), /*epoch=*/4);
  ArenaPiece piece = arena->allocate(0, 4096);
  std::byte* const data = piece.data();
  survivor.exposure().add(data, 4096);
  ASSERT_TRUE(dead.exposure().begin_stride());
  survivor.exposure().close();
  piece = ArenaPiece();
  arena->end_quarantine(4);
  EXPECT_NE(arena->allocate(0, 4096).data(), data);
  arena->end_quarantine(5);
  EXPECT_EQ(arena->allocate(0, 4096).data(), data);
}

}  // namespace
}  // namespace trireme::comm::shm
