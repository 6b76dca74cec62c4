// Goal:   all ranks get the result of a vote in the same step, and no rank waits for another that
//         is at most `slack` steps behind.
// Method: ranks as threads; one begins only when the other has run all the steps that it can.

#include "trireme/parallel/votes.h"

#include <gtest/gtest.h>

#include <latch>

#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

using namespace std::chrono_literals;

TEST(Votes, ArriveSlackStepsLaterOnAllRanks) {
  for (const std::int64_t slack : {0, 1, 3}) {
    const auto groups = comm::connect_threads(3, {.timeout = 30s});
    testing::run_rank_threads(3, [&](int rank) {
      Votes votes(groups[static_cast<std::size_t>(rank)], slack);
      for (std::int32_t step = 0; step < 8; ++step) {
        const auto told = votes.cast({rank == 1 && step == 2 ? 1 : 0, step, rank});
        ASSERT_EQ(told.has_value(), step >= slack);
        if (told) {
          const auto then = static_cast<std::int32_t>(step - slack);
          EXPECT_EQ(*told, (Votes::Ballot{then == 2 ? 1 : 0, then, 2}));
        }
      }
      votes.drain();
      EXPECT_EQ(votes.cast({5, 0, 0}).has_value(), slack == 0) << "drained votes are discarded";
      votes.drain();
    });
  }
}

TEST(Votes, LetARankRunAheadOfAnother) {
  constexpr std::int64_t kSlack = 3;
  const auto groups = comm::connect_threads(2, {.timeout = 30s});
  std::latch is_ahead(1);
  testing::run_rank_threads(2, [&](int rank) {
    Votes votes(groups[static_cast<std::size_t>(rank)], kSlack);
    if (rank == 1) is_ahead.wait();
    for (int step = 0; step < kSlack; ++step) EXPECT_FALSE(votes.cast({rank, 0, 0}));
    if (rank == 0) is_ahead.count_down();
    EXPECT_EQ(votes.cast({0, 0, 0}), (Votes::Ballot{1, 0, 0}));
    votes.drain();
  });
}

}  // namespace
}  // namespace trireme::parallel
