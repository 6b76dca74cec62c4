// Goal:   a rank has lost as soon as enough other ranks are done, and not before; no more ranks
//         give up than may be left out. The death of a rank ends the wait for it.
// Method: ranks as threads that finish in an order set by the test; many rounds in any order.

#include "trireme/parallel/data/race.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/testing/code_of.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

TEST(Race, IsLostWhenAllOtherRanksAreDone) {
  constexpr int kRanks = 3;
  const auto groups = comm::connect_threads(kRanks, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(kRanks, [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    Race race(group);
    EXPECT_FALSE(race.is_lost());
    for (int late = 0; late < kRanks; ++late) {
      race.begin(1);
      if (rank != (late + 1) % kRanks) {
        EXPECT_FALSE(race.is_lost()) << "at most one rank is done";
      }
      group.barrier().wait();
      if (rank == late) {
        while (!race.is_lost()) std::this_thread::yield();
      }
      race.finish();
      EXPECT_FALSE(race.is_lost()) << "a rank that is done has not lost";
      race.end();
      group.barrier().wait();
    }
  });
}

TEST(Race, LeavesOutAtMostTheGivenNumberOfRanks) {
  constexpr int kRanks = 4;
  const auto groups = comm::connect_threads(kRanks, {.timeout = std::chrono::seconds(30)});
  for (int most = 1; most < kRanks; ++most) {
    std::atomic<int> lost{0};
    testing::run_rank_threads(kRanks, [&](int rank) {
      const comm::Group& group = groups[static_cast<std::size_t>(rank)];
      Race race(group);
      for (int round = 0; round < 50; ++round) {
        lost = 0;
        group.barrier().wait();
        race.begin(most);
        for (int i = 0; i < rank * round; ++i) std::this_thread::yield();
        if (race.is_lost()) ++lost;
        race.finish();
        race.end();
        group.barrier().wait();
        EXPECT_LE(lost.load(), most);
        group.barrier().wait();
      }
    });
  }
}

TEST(Race, TheDeathOfARankIsALossForTheWaitAndNotForTheRace) {
  const auto groups = comm::connect_threads(2, {.timeout = std::chrono::seconds(30)});
  Race race(groups[0]);
  race.begin(1);
  groups[0].abort(Error(ErrorCode::PeerLost, "a rank died"));
  EXPECT_FALSE(race.is_lost());
  EXPECT_EQ(testing::code_of([&] { race.end(); }), ErrorCode::PeerLost);
}

}  // namespace
}  // namespace trireme::parallel::data
