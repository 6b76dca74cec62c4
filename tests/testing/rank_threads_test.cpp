// Goal:   all rank threads run concurrently, and the first error is rethrown with its rank.
// Method: bodies that wait for each other; bodies that throw.

#include "trireme/testing/rank_threads.h"

#include <gtest/gtest.h>

#include <barrier>

namespace trireme::testing {
namespace {

TEST(RanksAsThreads, RunTogether) {
  for (const int count : {0, 1, 5}) {
    std::barrier together(count > 0 ? count : 1);
    std::atomic<int> sum = 0;
    run_rank_threads(count, [&](int rank) {
      together.arrive_and_wait();
      sum += rank;
    });
    EXPECT_EQ(sum, count * (count - 1) / 2);
  }
}

TEST(RanksAsThreads, TheErrorOfTheLowestRankComesBack) {
  try {
    run_rank_threads(4, [](int rank) {
      if (rank >= 2) throw Error(ErrorCode::Corrupt, "broken");
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.rank(), 2);
    EXPECT_EQ(error.code(), ErrorCode::Corrupt);
  }
}

}  // namespace
}  // namespace trireme::testing
