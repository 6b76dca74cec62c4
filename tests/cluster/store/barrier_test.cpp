// Goal:   no rank passes a barrier before all ranks have arrived, and missing ranks are named.
// Method: threads as ranks on every kind of store.

#include "trireme/cluster/store/barrier.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/cluster/store_kinds.h"
#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

Deadline soon() {
  return Deadline::after(30s);
}

template <class Kind>
class BarrierTest : public ::testing::Test {
 protected:
  Kind kind;
};

TYPED_TEST_SUITE(BarrierTest, StoreKinds);

TYPED_TEST(BarrierTest, NobodyPassesEarly) {
  for (const int size : {1, 2, 3, 7}) {
    constexpr int kRounds = 4;
    std::atomic<int> arrived = 0;
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < size; ++rank) {
      ranks.emplace_back([&, rank] {
        const std::unique_ptr<Store> store = this->kind.open();
        Barrier barrier(*store, {.name = std::to_string(size), .rank = rank, .size = size});
        for (int round = 1; round <= kRounds; ++round) {
          ++arrived;
          barrier.wait(soon());
          EXPECT_GE(arrived, round * size);
        }
      });
    }
    for (std::thread& rank : ranks) rank.join();
    const auto store = this->kind.open();
    EXPECT_LE(store->list("barrier/" + std::to_string(size) + "/", soon()).size(),
              static_cast<std::size_t>(2 * (size + 2)));
  }
}

TYPED_TEST(BarrierTest, NamesWhoNeverCameAndCanBeWaitedForAgain) {
  const std::unique_ptr<Store> store = this->kind.open();
  Barrier first(*store, {.name = "b", .rank = 1, .size = 4});
  try {
    first.wait(Deadline::after(150ms));
    ADD_FAILURE() << "passed alone";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
    EXPECT_EQ(error.rank(), 1);
    EXPECT_THAT(error.message(), ::testing::StartsWith("ranks 0, 2, 3 of 4 did not come within"));
  }
  std::vector<std::thread> others;
  for (const int rank : {0, 2, 3}) {
    others.emplace_back(
        [&, rank] { Barrier(*store, {.name = "b", .rank = rank, .size = 4}).wait(soon()); });
  }
  first.wait(soon());
  for (std::thread& other : others) other.join();
}

TEST(Barrier, RefusesARankOutsideItsSize) {
  LocalStore store;
  EXPECT_THROW(Barrier(store, {.name = "b", .rank = 2, .size = 2}), Error);
}

}  // namespace
}  // namespace trireme::cluster
