// StoreConformance tests the contract of store.h that every Store must satisfy, as a suite of typed
// tests. A test file that has a kind of store (see store_kinds.h) instantiates it.
//
// Method: threads as ranks where calls must meet. Nothing sleeps: a waiting call is woken by the
//         test's actions.

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/cluster/store/store.h"
#include "trireme/testing/code_of.h"

namespace trireme::cluster::conformance {

using namespace std::chrono_literals;
using testing::code_of;

inline Deadline soon() {
  return Deadline::after(20s);
}

template <class Kind>
class StoreConformance : public ::testing::Test {
 protected:
  // Some kinds need a program that is not installed on every machine.
  void SetUp() override {
    if constexpr (requires { Kind::kMissing; }) {
      if (!a) GTEST_SKIP() << Kind::kMissing;
    }
  }

  Kind kind;
  std::unique_ptr<Store> a = kind.open();
  std::unique_ptr<Store> b = kind.open();
};

TYPED_TEST_SUITE_P(StoreConformance);

TYPED_TEST_P(StoreConformance, AKeySetInOneSessionIsReadInAnother) {
  EXPECT_EQ(this->b->get("k", soon()), std::nullopt);
  this->a->set("k", bytes_of("v"), soon());
  EXPECT_EQ(this->b->get("k", soon()), to_bytes("v"));
  this->b->set("k", {}, soon());
  EXPECT_EQ(this->a->get("k", soon()), Bytes{}) << "an empty value is a value";
  EXPECT_TRUE(this->a->erase("k", soon()));
  EXPECT_FALSE(this->b->erase("k", soon()));
  EXPECT_EQ(this->b->get("k", soon()), std::nullopt);
}

TYPED_TEST_P(StoreConformance, LargeValuesAndUnusualKeysAreKept) {
  const std::string key("a/b \xff\0c%", 9);
  Bytes big(std::size_t{3} << 20);
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<std::byte>(i * 31);
  this->a->set(key, big, soon());
  EXPECT_EQ(this->b->get(key, soon()), big);
  EXPECT_EQ(code_of([&] { this->a->set("", big, soon()); }), ErrorCode::InvalidInput);
  const Bytes too_big((std::size_t{16} << 20) + 1);
  EXPECT_EQ(code_of([&] { this->a->set("k", too_big, soon()); }), ErrorCode::Exhausted);
}

TYPED_TEST_P(StoreConformance, WaitReturnsAsSoonAsTheKeyIsSet) {
  auto waiting = std::async(std::launch::async, [&] { return this->b->wait("k", soon()); });
  this->a->set("k", bytes_of("now"), soon());
  EXPECT_EQ(waiting.get(), to_bytes("now"));
  EXPECT_EQ(this->a->wait("k", soon()), to_bytes("now"));
}

TYPED_TEST_P(StoreConformance, WaitEndsAtItsDeadline) {
  const TimePoint begin = steady_clock().now();
  EXPECT_EQ(code_of([&] { this->a->wait("k", Deadline::after(50ms)); }), ErrorCode::Deadline);
  EXPECT_GE(steady_clock().now() - begin, 50ms);
  this->a->set("k", bytes_of("1"), soon());
  EXPECT_EQ(this->a->wait("k", soon()), to_bytes("1")) << "the store can be used after a deadline";
}

TYPED_TEST_P(StoreConformance, AddsFromManyThreadsSumExactly) {
  constexpr int kThreads = 4;
  constexpr int kAdds = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    Store* store = t % 2 ? this->a.get() : this->b.get();
    threads.emplace_back([=] {
      for (int i = 0; i < kAdds; ++i) store->add("n", t + 1, soon());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(this->a->add("n", 0, soon()), kAdds * (1 + 2 + 3 + 4));
  EXPECT_EQ(this->b->get("n", soon()), to_bytes("250")) << "a number is decimal text";
  this->a->set("n", bytes_of("x"), soon());
  EXPECT_EQ(code_of([&] { this->a->add("n", 1, soon()); }), ErrorCode::Mismatch);
}

TYPED_TEST_P(StoreConformance, ExactlyOneOfManySwapsSucceeds) {
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Store& store = t % 2 ? *this->a : *this->b;
      const std::string mine = std::to_string(t);
      const SwapResult result = store.compare_and_set("k", {}, bytes_of(mine), soon());
      if (result.swapped) ++winners;
      EXPECT_EQ(result.swapped, result.current == to_bytes(mine));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
}

TYPED_TEST_P(StoreConformance, SwapErasesAndRefuses) {
  this->a->set("k", bytes_of("1"), soon());
  SwapResult result = this->b->compare_and_set("k", bytes_of("2"), bytes_of("3"), soon());
  EXPECT_FALSE(result.swapped);
  EXPECT_EQ(result.current, to_bytes("1"));
  result = this->b->compare_and_set("k", bytes_of("1"), std::nullopt, soon());
  EXPECT_TRUE(result.swapped);
  EXPECT_EQ(result.current, std::nullopt);
  EXPECT_EQ(this->a->get("k", soon()), std::nullopt);
}

TYPED_TEST_P(StoreConformance, ListsAPrefixSortedWithRevisions) {
  for (const char* key : {"p/2", "q", "p/10", "p", "p/1"}) this->a->set(key, bytes_of(key), soon());
  this->b->set("p/10", bytes_of("again"), soon());
  const std::vector<StoreChange> all = this->b->list("p/", soon());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].key, "p/1");
  EXPECT_EQ(all[1].key, "p/10");
  EXPECT_EQ(all[1].value, to_bytes("again"));
  EXPECT_EQ(all[2].key, "p/2");
  EXPECT_GT(all[1].revision, all[0].revision);
  EXPECT_TRUE(this->b->list("nothing", soon()).empty());
  EXPECT_EQ(this->b->list("", soon()).size(), 5u);
}

TYPED_TEST_P(StoreConformance, AWatchMissesNothing) {
  this->a->set("w/old", bytes_of("0"), soon());
  const std::unique_ptr<Watch> watch = this->b->watch("w/", soon());
  std::thread writer([&] {
    for (int i = 1; i <= 100; ++i) this->a->add("w/n", 1, soon());
    this->a->set("other", {}, soon());
    this->a->erase("w/n", soon());
  });
  EXPECT_EQ(watch->next(soon()).key, "w/old");
  std::uint64_t revision = 0;
  for (int i = 1; i <= 100; ++i) {
    const StoreChange change = watch->next(soon());
    ASSERT_EQ(change.value, to_bytes(std::to_string(i)));
    ASSERT_GT(change.revision, revision);
    revision = change.revision;
  }
  EXPECT_EQ(watch->next(soon()).value, std::nullopt);
  EXPECT_EQ(code_of([&] { watch->next(Deadline::after(20ms)); }), ErrorCode::Deadline);
  this->a->set("w/late", {}, soon());
  EXPECT_EQ(watch->next(soon()).key, "w/late") << "a change is not lost by a deadline";
  writer.join();
}

TYPED_TEST_P(StoreConformance, AWatchThatMissedItsDeadlineIsNotKept) {
  // More than a session may have.
  for (int i = 0; i < 1100; ++i) {
    try {
      this->a->watch("w/", Deadline::after(0ms));
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::Deadline) << error.what();
    }
  }
  this->b->set("w/k", bytes_of("v"), soon());
  EXPECT_EQ(this->a->watch("w/", soon())->next(soon()).key, "w/k");
}

TYPED_TEST_P(StoreConformance, EachCallerOfAWatchHasItsOwnDeadline) {
  const std::unique_ptr<Watch> watch = this->a->watch("w/", soon());
  std::future<StoreChange> patient =
      std::async(std::launch::async, [&] { return watch->next(soon()); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(code_of([&] { watch->next(Deadline::after(20ms)); }), ErrorCode::Deadline);
  }
  this->b->set("w/k", bytes_of("v"), soon());
  EXPECT_EQ(patient.get().key, "w/k");
}

TYPED_TEST_P(StoreConformance, SessionKeysEndWithTheirSession) {
  const std::unique_ptr<Watch> watch = this->b->watch("s", soon());
  this->a->set("s", bytes_of("here"), soon(), Lifetime::Session);
  this->a->set("job", bytes_of("stays"), soon());
  EXPECT_TRUE(this->a->compare_and_set("t", {}, bytes_of("1"), soon(), Lifetime::Session).swapped);
  EXPECT_EQ(watch->next(soon()).value, to_bytes("here"));
  this->a.reset();
  EXPECT_EQ(watch->next(soon()).value, std::nullopt);
  EXPECT_EQ(this->b->get("s", soon()), std::nullopt);
  EXPECT_EQ(this->b->get("job", soon()), to_bytes("stays"));
  // The other key ends with the same session, maybe a moment later.
  while (this->b->get("t", soon())) ASSERT_FALSE(this->HasFailure());
}

TYPED_TEST_P(StoreConformance, ManyWaitersAndAbandonedWaitsDoNoHarm) {
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(code_of([&] { this->a->wait("never", Deadline::after(0ms)); }), ErrorCode::Deadline);
  }
  std::vector<std::future<Bytes>> waiting;
  for (int i = 0; i < 16; ++i) {
    waiting.push_back(std::async(
        std::launch::async, [&, i] { return this->a->wait("k" + std::to_string(i), soon()); }));
  }
  for (int i = 0; i < 16; ++i) this->b->set("k" + std::to_string(i), bytes_of("v"), soon());
  for (std::future<Bytes>& value : waiting) EXPECT_EQ(value.get(), to_bytes("v"));
}

REGISTER_TYPED_TEST_SUITE_P(StoreConformance, AKeySetInOneSessionIsReadInAnother,
                            LargeValuesAndUnusualKeysAreKept, WaitReturnsAsSoonAsTheKeyIsSet,
                            WaitEndsAtItsDeadline, AddsFromManyThreadsSumExactly,
                            ExactlyOneOfManySwapsSucceeds, SwapErasesAndRefuses,
                            ListsAPrefixSortedWithRevisions, AWatchMissesNothing,
                            AWatchThatMissedItsDeadlineIsNotKept,
                            EachCallerOfAWatchHasItsOwnDeadline, SessionKeysEndWithTheirSession,
                            ManyWaitersAndAbandonedWaitsDoNoHarm);

}  // namespace trireme::cluster::conformance
