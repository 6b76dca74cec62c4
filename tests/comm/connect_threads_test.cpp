// Goal:   one call returns a group for every rank, over one arena, with the given options.
// Method: worlds of 0, 1, 2 and 7 ranks.

#include "trireme/comm/connect_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "trireme/comm/arena.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

class Refusal : public Faults {
 public:
  void reached(FaultPoint point, int rank) override {
    if (rank == 1 && point == shm::kEntered) throw Error(ErrorCode::Exhausted, "no more");
  }
};

TEST(ConnectThreads, ReturnsAGroupForEveryRank) {
  for (const int ranks : {1, 2, 7}) {
    const auto groups = connect_threads(ranks, {.epoch = 5});
    ASSERT_EQ(groups.size(), static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      const Group& group = groups[static_cast<std::size_t>(rank)];
      EXPECT_EQ(group.rank(), rank);
      EXPECT_EQ(group.size(), ranks);
      EXPECT_EQ(group.epoch(), 5u);
      EXPECT_EQ(group.arena(), groups[0].arena());
      EXPECT_FALSE(group.error().has_value());
    }
    EXPECT_EQ(groups[0].arena()->members(), ranks);
  }
  EXPECT_THROW(connect_threads(0), Error);
}

TEST(ConnectThreads, WorldsAreIndependent) {
  const auto a = connect_threads(2), b = connect_threads(2);
  EXPECT_NE(a[0].arena(), b[0].arena());
  a[0].abort(Error(ErrorCode::Aborted, "enough"));
  Work first = b[0].barrier(), second = b[1].barrier();
  second.wait();
  first.wait();
}

TEST(ConnectThreads, GroupsOutliveEachOther) {
  auto groups = connect_threads(2, {.timeout = 30s});
  std::vector<float> data(3, 1.0f);
  testing::run_rank_threads(2, [&](int rank) {
    std::vector<float> mine(3, 1.0f);
    const Group group = std::move(groups[static_cast<std::size_t>(rank)]);
    group.all_reduce(span(mine), ReduceOp::Sum).wait();
    EXPECT_EQ(mine[0], 2.0f);
  });
}

TEST(ConnectThreads, PiecesOfTheArenaSurviveTheGroups) {
  auto groups = connect_threads(2, {.timeout = 30s});
  std::vector<ArenaPiece> pieces;
  for (const Group& group : groups) {
    pieces.push_back(group.arena()->allocate(group.arena_member(), 20000));
  }
  testing::run_rank_threads(2, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    auto* data = reinterpret_cast<float*>(pieces[r].data());
    std::fill_n(data, 5000, 1.0f);
    groups[r].all_reduce({data, 5000, DType::Float32}, ReduceOp::Sum).wait();
  });
  groups.clear();
  for (const ArenaPiece& piece : pieces) {
    const auto* data = reinterpret_cast<const float*>(piece.data());
    EXPECT_EQ(std::count(data, data + 5000, 2.0f), 5000);
  }
}

TEST(ConnectThreads, PassesFaultPointsToTheGroups) {
  Refusal faults;
  const auto groups = connect_threads(2, {.timeout = 30s}, &faults);
  Work first = groups[0].barrier();
  Work second = groups[1].barrier();
  EXPECT_THROW(second.wait(), Error);
  EXPECT_THROW(groups[1].barrier(), Error);
  ASSERT_TRUE(groups[1].error().has_value());
  EXPECT_EQ(groups[1].error()->code(), ErrorCode::Exhausted);
  first.wait();  // both had entered
}

}  // namespace
}  // namespace trireme::comm
