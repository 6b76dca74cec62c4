// Goal:   the client's half of exactly-once delivery: numbers never repeat, answers count once,
//         late requests are sent again.
// Method: the pure state machine with artificial times.

#include "trireme/cluster/store/store_session.h"

#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{};

StoreReply reply_to(const StoreRequest& request) {
  StoreReply reply;
  reply.slot = request.slot;
  reply.sequence = request.sequence;
  return reply;
}

TEST(StoreSession, AnAnswerCountsOnce) {
  StoreSession session;
  StoreRequest request;
  ASSERT_TRUE(session.begin(request, kStart));
  EXPECT_EQ(session.outstanding(), 1u);
  EXPECT_TRUE(session.accept(reply_to(request)));
  EXPECT_FALSE(session.accept(reply_to(request)));
  EXPECT_EQ(session.outstanding(), 0u);
}

TEST(StoreSession, AReusedSlotHasANewNumber) {
  StoreSession session;
  StoreRequest first;
  StoreRequest second;
  session.begin(first, kStart);
  session.abandon(first.slot);
  session.begin(second, kStart);
  EXPECT_EQ(second.slot, first.slot);
  EXPECT_GT(second.sequence, first.sequence);
  EXPECT_FALSE(session.accept(reply_to(first))) << "the answer to an abandoned request";
  EXPECT_TRUE(session.accept(reply_to(second)));
}

TEST(StoreSession, RefusesMoreThanItsSlots) {
  StoreSession session({.slots_max = 2});
  StoreRequest a;
  StoreRequest b;
  StoreRequest c;
  EXPECT_TRUE(session.begin(a, kStart));
  EXPECT_TRUE(session.begin(b, kStart));
  EXPECT_NE(a.slot, b.slot);
  EXPECT_FALSE(session.begin(c, kStart));
  session.accept(reply_to(a));
  EXPECT_TRUE(session.begin(c, kStart));
}

TEST(StoreSession, SendsAgainUntilAnswered) {
  StoreSession session({.retry = 10ms});
  StoreRequest request;
  request.key = "k";
  session.begin(request, kStart);
  EXPECT_TRUE(session.due(kStart + 9ms).empty());
  const auto again = session.due(kStart + 10ms);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].sequence, request.sequence) << "the same request, not a new one";
  EXPECT_EQ(again[0].key, "k");
  session.accept(reply_to(request));
  EXPECT_TRUE(session.due(kStart + 1h).empty());
}

TEST(StoreSession, OverAReliableConnectionNothingIsResent) {
  StoreSession session;
  StoreRequest request;
  session.begin(request, kStart);
  EXPECT_TRUE(session.due(kStart + 24h).empty());
}

TEST(StoreSession, AForeignSlotIsNotAccepted) {
  StoreSession session;
  StoreReply stray;
  stray.slot = 500;
  stray.sequence = 1;
  EXPECT_FALSE(session.accept(stray));
  EXPECT_THROW(session.abandon(500), Error);
}

}  // namespace
}  // namespace trireme::cluster
