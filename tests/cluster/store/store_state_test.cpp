// Goal:   waits and watches end as specified, nothing grows without bound.
// Method: the pure state machine with abandoned and late requests.

#include "trireme/cluster/store/store_state.h"

#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

constexpr StoreSessionId kA = 1;
constexpr StoreSessionId kB = 2;

struct Call {
  StoreVerb verb = StoreVerb::Get;
  std::string key{};
  std::uint16_t slot = 0;
  const char* value = nullptr;
  std::int64_t delta = 0;
  std::uint64_t watch = 0;
  std::uint64_t taken = 0;
  Lifetime lifetime = Lifetime::Job;
};

StoreRequest request_of(const Call& call) {
  StoreRequest request;
  request.verb = call.verb;
  request.key = call.key;
  request.slot = call.slot;
  if (call.value) request.value = share(bytes_of(call.value));
  request.delta = call.delta;
  request.watch = call.watch;
  request.taken = call.taken;
  request.lifetime = call.lifetime;
  return request;
}

class StoreStateTest : public ::testing::Test {
 protected:
  StoreStateTest() { open(StoreBounds{}); }

  void open(const StoreBounds& bounds) {
    state = std::make_unique<StoreState>(bounds);
    state->open(kA);
    state->open(kB);
  }
  std::vector<StoreState::Delivery> apply(StoreSessionId session, const Call& call) {
    state->apply(session, request_of(call));
    return state->take_deliveries();
  }
  StoreReply answer(StoreSessionId session, const Call& call) {
    auto deliveries = apply(session, call);
    if (deliveries.empty()) {
      ADD_FAILURE() << "no answer to " << name_of(call.verb);
      return {};
    }
    return deliveries.front().reply;
  }

  std::unique_ptr<StoreState> state;
};

TEST_F(StoreStateTest, AWatchWithAnUnknownNumberIsEndedByItsName) {
  EXPECT_GT(answer(kA, {.verb = StoreVerb::Watch, .key = "w", .watch = 7}).number, 0);
  answer(kB, {.verb = StoreVerb::Unwatch, .taken = 7});
  answer(kA, {.verb = StoreVerb::Unwatch, .taken = 8});
  EXPECT_EQ(state->watch_count(), 1u) << "only the watch with this session and name may be ended";
  answer(kA, {.verb = StoreVerb::Unwatch, .taken = 7});
  EXPECT_EQ(state->watch_count(), 0u);
}

TEST_F(StoreStateTest, AnEndedSessionIgnoresLateRequests) {
  const Call set{.verb = StoreVerb::Set, .key = "k", .value = "1", .lifetime = Lifetime::Session};
  answer(kA, set);
  state->end(kA);
  EXPECT_EQ(state->map().find("k"), nullptr);
  EXPECT_TRUE(apply(kA, set).empty());
  EXPECT_EQ(state->map().find("k"), nullptr);
}

TEST_F(StoreStateTest, AWaitIsAnsweredOnceWhenTheKeyIsSet) {
  const Call wait{.verb = StoreVerb::Wait, .key = "k"};
  EXPECT_TRUE(apply(kA, wait).empty());
  EXPECT_TRUE(apply(kA, wait).empty()) << "the same slot does not add a second wait";
  EXPECT_EQ(state->waiter_count(), 1u);
  const auto deliveries = apply(kB, {.verb = StoreVerb::Set, .key = "k", .value = "now"});
  ASSERT_EQ(deliveries.size(), 2u);
  EXPECT_EQ(deliveries[1].session, kA);
  EXPECT_EQ(text_of(*deliveries[1].reply.value), "now");
  EXPECT_EQ(state->waiter_count(), 0u);
}

TEST_F(StoreStateTest, AbandonedWaitsAreReplaced) {
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    apply(kA, {.verb = StoreVerb::Wait, .key = "k" + std::to_string(i)});
    ASSERT_EQ(state->waiter_count(), 1u);
  }
  apply(kA, {.key = "x"});
  EXPECT_EQ(state->waiter_count(), 0u);
}

TEST_F(StoreStateTest, AWatchDeliversExistingKeysByAgeAndThenEveryChange) {
  answer(kB, {.verb = StoreVerb::Set, .key = "p/2", .value = "a"});
  answer(kB, {.verb = StoreVerb::Set, .key = "p/1", .value = "b"});
  answer(kB, {.verb = StoreVerb::Set, .key = "q", .value = "-"});
  const auto id =
      static_cast<std::uint64_t>(answer(kA, {.verb = StoreVerb::Watch, .key = "p/"}).number);
  StoreReply batch = answer(kA, {.verb = StoreVerb::Next, .watch = id});
  ASSERT_EQ(batch.items.size(), 2u);
  EXPECT_EQ(batch.items[0].key, "p/2");
  EXPECT_EQ(batch.items[1].key, "p/1");

  const Call next{.verb = StoreVerb::Next, .watch = id, .taken = 2};
  EXPECT_TRUE(apply(kA, next).empty());
  const auto woken = apply(kB, {.verb = StoreVerb::Erase, .key = "p/1"});
  ASSERT_EQ(woken.size(), 2u);
  EXPECT_EQ(woken[1].reply.items.at(0).value, nullptr);
  EXPECT_EQ(woken[1].reply.number, 2);
}

TEST_F(StoreStateTest, AnUnacknowledgedBatchIsSentAgain) {
  const auto id = static_cast<std::uint64_t>(answer(kA, {.verb = StoreVerb::Watch}).number);
  answer(kB, {.verb = StoreVerb::Set, .key = "k", .value = "1"});
  EXPECT_EQ(answer(kA, {.verb = StoreVerb::Next, .watch = id}).items.size(), 1u);
  answer(kB, {.verb = StoreVerb::Set, .key = "k", .value = "2"});
  const StoreReply again = answer(kA, {.verb = StoreVerb::Next, .watch = id});
  ASSERT_EQ(again.items.size(), 2u) << "the client has acknowledged no item";
  EXPECT_EQ(again.number, 0);
}

TEST_F(StoreStateTest, ALaggingWatchFailsAndFreesItsItems) {
  open({.watch_items_max = 3});
  const auto id = static_cast<std::uint64_t>(answer(kA, {.verb = StoreVerb::Watch}).number);
  for (std::uint64_t i = 1; i <= 4; ++i) {
    answer(kB, {.verb = StoreVerb::Set, .key = "k", .value = "x"});
  }
  const StoreReply reply = answer(kA, {.verb = StoreVerb::Next, .watch = id});
  EXPECT_EQ(reply.error, ErrorCode::Exhausted);
}

TEST_F(StoreStateTest, EnforcesBoundsOnSlotsAndWatches) {
  open({.slots_max = 2, .watches_max = 1});
  EXPECT_EQ(answer(kA, {.slot = 2}).error, ErrorCode::Protocol);
  EXPECT_FALSE(answer(kA, {.verb = StoreVerb::Watch}).error);
  EXPECT_EQ(answer(kA, {.verb = StoreVerb::Watch}).error, ErrorCode::Exhausted);
}

TEST_F(StoreStateTest, EndingASessionRemovesItsWaitsAndWatches) {
  const auto id = static_cast<std::uint64_t>(answer(kA, {.verb = StoreVerb::Watch}).number);
  apply(kA, {.verb = StoreVerb::Next, .watch = id});
  apply(kA, {.verb = StoreVerb::Wait, .key = "never", .slot = 1});
  EXPECT_EQ(answer(kB, {.verb = StoreVerb::Next, .watch = id}).error, ErrorCode::NotFound)
      << "one session cannot read another's watch";
  state->end(kA);
  EXPECT_EQ(state->waiter_count(), 0u);
  EXPECT_EQ(state->watch_count(), 0u);
  EXPECT_EQ(apply(kB, {.verb = StoreVerb::Set, .key = "never", .value = ""}).size(), 1u);
}

TEST_F(StoreStateTest, AChangeThatTheJournalRefusesIsNotApplied) {
  StoreState refusing({}, [](auto) { throw Error(ErrorCode::Exhausted, "disk full"); });
  refusing.open(kA);
  refusing.apply(kA, request_of({.verb = StoreVerb::Set, .key = "k", .value = "1"}));
  const auto deliveries = refusing.take_deliveries();
  ASSERT_EQ(deliveries.size(), 1u);
  EXPECT_EQ(deliveries[0].reply.error, ErrorCode::Exhausted);
  EXPECT_EQ(refusing.map().find("k"), nullptr);
  EXPECT_EQ(refusing.map().revision(), 0u);
}

}  // namespace
}  // namespace trireme::cluster
