// Goal:   a failure between two live ranks is reported to all ranks of their groups, at once and
//         with its cause: a connection that is cut, or a payload that was damaged in flight.
// Method: three ranks as threads over sockets that the test controls; the third is not affected by
//         the failure itself and would otherwise wait for its own deadline.

#include <gtest/gtest.h>

#include <latch>
#include <optional>
#include <thread>

#include "tests/comm/tcp/hand_wired.h"

namespace trireme::comm::tcp {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 3;
constexpr std::size_t kLarge = std::size_t{1} << 18;

struct Outcome {
  std::optional<Error> errors[kRanks];
};

// Every rank reduces until it fails; rank 0 calls `harm` after a few operations. No rank leaves
// before all have failed, because a departure would be another error. Until then each rank calls
// look() on its group, which sends the rest of its announcements.
Outcome reduce_until_it_breaks(HandWired& ranks, std::size_t count,
                               const std::function<void()>& harm) {
  Outcome outcome;
  std::mutex mutex;
  std::latch failed(kRanks);
  ranks.run([&](const Group& group) {
    std::vector<float> data(count, 1.0f);
    try {
      for (int round = 0;; ++round) {
        if (round == 3 && group.rank() == 0) harm();
        group.all_reduce(span(data), ReduceOp::Max).wait();
      }
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      outcome.errors[group.rank()] = error;
    }
    failed.count_down();
    while (!failed.try_wait()) {
      group.look();
      std::this_thread::yield();
    }
  });
  return outcome;
}

TEST(BrokenLink, ACutConnectionIsReportedToAThirdRank) {
  for (const std::size_t count : {std::size_t{3}, kLarge}) {
    HandWired ranks(kRanks, false);
    const Outcome outcome = reduce_until_it_breaks(ranks, count, [&] { ranks.cut(); });
    for (const auto& error : outcome.errors) {
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->code(), ErrorCode::PeerLost) << error->what();
    }
    EXPECT_EQ(outcome.errors[0]->peer(), 1) << outcome.errors[0]->what();
    EXPECT_EQ(outcome.errors[1]->peer(), 0) << outcome.errors[1]->what();
    EXPECT_NE(outcome.errors[2]->peer(), 2) << outcome.errors[2]->what();
  }
}

TEST(BrokenLink, ADamagedPayloadIsReportedToEveryRank) {
  HandWired ranks(kRanks, true);
  const Outcome outcome =
      reduce_until_it_breaks(ranks, kLarge, [&] { ranks.flip_in_the_next(32768); });
  for (const auto& error : outcome.errors) ASSERT_TRUE(error.has_value());
  const std::string damaged = "from rank 0 was damaged on the way";
  EXPECT_NE(std::string(outcome.errors[1]->what()).find(damaged), std::string::npos);
  EXPECT_EQ(outcome.errors[1]->code(), ErrorCode::Corrupt) << outcome.errors[1]->what();
  EXPECT_EQ(outcome.errors[1]->peer(), 0);
  // The reason may be lost if a connection is closed with unread bytes, but the group must have
  // ended.
  if (outcome.errors[2]->code() == ErrorCode::RemoteFailure) {
    EXPECT_NE(std::string(outcome.errors[2]->what()).find(damaged), std::string::npos);
    EXPECT_EQ(outcome.errors[2]->peer(), 1);
  } else {
    EXPECT_EQ(outcome.errors[2]->code(), ErrorCode::PeerLost) << outcome.errors[2]->what();
  }
  EXPECT_NE(outcome.errors[2]->peer(), 2) << outcome.errors[2]->what();
  EXPECT_NE(outcome.errors[0]->peer(), 0) << outcome.errors[0]->what();
}

TEST(BrokenLink, WithoutDamageNothingBreaks) {
  HandWired ranks(kRanks, true);
  ranks.run([&](const Group& group) {
    std::vector<float> data(kLarge, static_cast<float>(group.rank()));
    for (int round = 0; round < 3; ++round) group.all_reduce(span(data), ReduceOp::Max).wait();
    EXPECT_EQ(data.front(), 2.0f);
    EXPECT_EQ(data.back(), 2.0f);
    group.barrier().wait();
  });
}

}  // namespace
}  // namespace trireme::comm::tcp
