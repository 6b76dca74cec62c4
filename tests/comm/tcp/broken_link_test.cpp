// Goal:   what goes wrong between two ranks that live is known to all ranks of their groups, at
//         once and by its name: a connection that is cut, a payload that was damaged on its way.
// Method: three ranks as threads over sockets that the test holds; the third has nothing to do
//         with what breaks, and would wait for its own deadline.

#include <gtest/gtest.h>

#include <optional>

#include "tests/comm/tcp/hand_wired.h"

namespace trireme::comm::tcp {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 3;
constexpr std::size_t kLarge = std::size_t{1} << 18;

struct Outcome {
  std::optional<Error> errors[kRanks];
  Duration longest{};
};

// Every rank reduces until it fails; rank 0 does `harm` after a few times.
Outcome reduce_until_it_breaks(HandWired& ranks, std::size_t count,
                               const std::function<void()>& harm) {
  Outcome outcome;
  std::mutex mutex;
  ranks.run([&](const Group& group) {
    std::vector<float> data(count, 1.0f);
    const TimePoint begun = steady_clock().now();
    try {
      for (int round = 0;; ++round) {
        if (round == 3 && group.rank() == 0) harm();
        group.all_reduce(span(data), ReduceOp::Max).wait();
      }
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      outcome.errors[group.rank()] = error;
      outcome.longest = std::max(outcome.longest, steady_clock().now() - begun);
    }
  });
  return outcome;
}

TEST(BrokenLink, ACutBetweenTwoReachesTheThird) {
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
    EXPECT_LT(outcome.longest, 10s) << "waited for the deadline";
  }
}

TEST(BrokenLink, ADamagedPayloadIsNamedByWhoeverReadItAndKnownToAll) {
  HandWired ranks(kRanks, true);
  const Outcome outcome =
      reduce_until_it_breaks(ranks, kLarge, [&] { ranks.flip_in_the_next(32768); });
  for (const auto& error : outcome.errors) ASSERT_TRUE(error.has_value());
  const std::string damaged = "from rank 0 was damaged on the way";
  EXPECT_NE(std::string(outcome.errors[1]->what()).find(damaged), std::string::npos);
  EXPECT_EQ(outcome.errors[1]->code(), ErrorCode::Corrupt) << outcome.errors[1]->what();
  EXPECT_EQ(outcome.errors[1]->peer(), 0);
  // The reason may be lost on a connection that is given up with bytes unread; that it ended is
  // not.
  if (outcome.errors[2]->code() == ErrorCode::RemoteFailure) {
    EXPECT_NE(std::string(outcome.errors[2]->what()).find(damaged), std::string::npos);
    EXPECT_EQ(outcome.errors[2]->peer(), 1);
  } else {
    EXPECT_EQ(outcome.errors[2]->code(), ErrorCode::PeerLost) << outcome.errors[2]->what();
  }
  EXPECT_NE(outcome.errors[2]->peer(), 2) << outcome.errors[2]->what();
  EXPECT_NE(outcome.errors[0]->peer(), 0) << outcome.errors[0]->what();
  EXPECT_LT(outcome.longest, 10s) << "waited for the deadline";
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
