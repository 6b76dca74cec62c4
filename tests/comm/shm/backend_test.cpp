// Goal:   behaviour that is specific to ranks with shared memory: they find each other's doorbells,
//         pass the named fault points, and combine spans in the arena in place and in rank order.
// Method: threads over one arena. The conformance suite checks what every backend must do.

#include "trireme/comm/shm/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm::shm {
namespace {

using namespace std::chrono_literals;

class Recorder : public Faults {
 public:
  void reached(FaultPoint point, int rank) override {
    std::lock_guard lock(mutex_);
    if (rank == 1) points_.emplace_back(point.name);
  }
  std::vector<std::string> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(points_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> points_;
};

TEST(DoorbellSource, ARingAfterThePreparationEndsTheSleepAtOnce) {
  const auto arena = Arena::create({.members = 2});
  DoorbellSource source(arena, 1);
  source.prepare_sleep();
  EXPECT_EQ(arena->doorbell(1).is_asleep, 1u);
  source.wake();
  const TimePoint begun = steady_clock().now();
  source.sleep(60s);
  EXPECT_LT(steady_clock().now() - begun, 60s) << "the doorbell's ring was lost";
  source.finish_sleep();
  EXPECT_EQ(arena->doorbell(1).is_asleep, 0u);
  EXPECT_FALSE(source.poll());
}

TEST(DoorbellSource, SleepsNoLongerThanRequested) {
  const auto arena = Arena::create({.members = 1});
  DoorbellSource source(arena, 0);
  source.prepare_sleep();
  const TimePoint begun = steady_clock().now();
  source.sleep(5ms);
  EXPECT_GE(steady_clock().now() - begun, 5ms);
}

TEST(DoorbellSource, IsWokenFromAnotherThread) {
  const auto arena = Arena::create({.members = 1});
  DoorbellSource source(arena, 0);
  source.prepare_sleep();
  std::thread waker([&] { source.wake(); });
  const TimePoint begun = steady_clock().now();
  source.sleep(60s);
  EXPECT_LT(steady_clock().now() - begun, 60s) << "the doorbell's ring was lost";
  waker.join();
}

TEST(SharedBackend, SupportsEveryFeature) {
  const auto groups = connect_threads(2);
  const BackendCapabilities can = groups[0].capabilities();
  EXPECT_EQ(can.name, "shm");
  EXPECT_TRUE(can.aborts && can.names_mismatch && can.names_the_dead && can.ordered_sums);
  EXPECT_TRUE(can.rounds_once && can.shares_memory);
}

TEST(SharedBackend, EveryDataPathPassesItsFaultPoints) {
  Recorder recorder;
  const auto groups = connect_threads(2, {.timeout = 30s}, &recorder);
  const std::vector<std::string> whole{"shm.before_enter", "shm.entered", "shm.halfway",
                                       "shm.before_finish"};
  std::vector<ArenaPiece> pieces;
  for (int rank = 0; rank < 2; ++rank) pieces.push_back(groups[0].arena()->allocate(rank, 1 << 20));
  std::vector<std::string> in_place = whole;
  in_place.insert(in_place.begin() + 2, "shm.touching");
  for (const bool is_direct : {false, true}) {
    for (const std::size_t count : {std::size_t{4096}, std::size_t{200000}}) {
      testing::run_rank_threads(2, [&](int rank) {
        std::vector<float> own(count);
        const auto r = static_cast<std::size_t>(rank);
        void* data = is_direct ? static_cast<void*>(pieces[r].data()) : own.data();
        groups[r].all_reduce({data, count, DType::Float32}, ReduceOp::Sum).wait();
      });
      EXPECT_EQ(recorder.take(), is_direct ? in_place : whole) << count;
    }
  }
  testing::run_rank_threads(2, [&](int rank) {
    std::vector<float> few(3);
    const Group& group = groups[static_cast<std::size_t>(rank)];
    group.broadcast(span(few), 0).wait();
  });
  EXPECT_EQ(recorder.take(), whole) << "eager";
  testing::run_rank_threads(2, [&](int rank) {
    std::vector<float> few(3);
    groups[static_cast<std::size_t>(rank)].all_reduce(span(few), ReduceOp::Sum).wait();
  });
  EXPECT_EQ(recorder.take(), whole) << "eager all_reduce";
}

// `big` + 1 is big and big + 2 is not, so that any other order of the same numbers gives another
// result.
void expect_rank_order(std::size_t count, bool is_direct) {
  constexpr float kBig = 0x1p24f;
  const float values[] = {kBig, 1, 1, 1, 2, 1, 1};
  constexpr float kExpected = ((kBig + 1) + (1 + 1)) + ((2 + 1) + 1);
  const auto groups = connect_threads(7, {.timeout = 30s});
  std::vector<ArenaPiece> pieces;
  for (int r = 0; r < 7; ++r) {
    pieces.push_back(groups[0].arena()->allocate(r, count * sizeof(float)));
  }
  testing::run_rank_threads(7, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    std::vector<float> own(count);
    float* data = is_direct ? reinterpret_cast<float*>(pieces[r].data()) : own.data();
    std::fill_n(data, count, values[rank]);
    groups[r].all_reduce({data, count, DType::Float32}, ReduceOp::Sum).wait();
    EXPECT_EQ(std::count(data, data + count, kExpected), static_cast<std::ptrdiff_t>(count));
  });
}

TEST(SharedBackend, AddsInRankOrderOnEveryDataPath) {
  expect_rank_order(3, false);
  expect_rank_order(70001, false);
  expect_rank_order(3, true);
  expect_rank_order(70001, true);
}

// Holds rank 0 until rank 1 has begun, and rank 1 in its first stride until rank 0 has combined all
// other strides.
class Sluggard : public Faults {
 public:
  explicit Sluggard(int strides) : left_(strides - 1) {}
  void reached(FaultPoint point, int rank) override {
    if (!(point == kTouching)) return;
    std::unique_lock lock(mutex_);
    if (rank == 0) {
      change_.wait_for(lock, 20s, [&] { return its_own_ > 0; });
      --left_;
      change_.notify_all();
      return;
    }
    ++its_own_;
    change_.notify_all();
    is_helped_ = change_.wait_for(lock, 20s, [&] { return left_ == 0; });
  }
  bool is_helped() const { return is_helped_ && its_own_ == 1; }

 private:
  std::mutex mutex_;
  std::condition_variable change_;
  int left_;
  int its_own_ = 0;
  bool is_helped_ = false;
};

TEST(SharedBackend, AFinishedRankTakesOverStridesOfASlowRank) {
  constexpr std::size_t kStrides = 5;  // per rank; the last one is short
  constexpr std::size_t kCount = 2 * (kStrides * (std::size_t{128} << 10) - 16);
  Sluggard sluggard(2 * kStrides);
  const auto groups = connect_threads(2, {.timeout = 30s}, &sluggard);
  std::vector<ArenaPiece> pieces;
  for (int r = 0; r < 2; ++r) {
    pieces.push_back(groups[0].arena()->allocate(r, kCount * sizeof(float)));
  }
  testing::run_rank_threads(2, [&](int rank) {
    auto* data = reinterpret_cast<float*>(pieces[static_cast<std::size_t>(rank)].data());
    for (std::size_t i = 0; i < kCount; ++i) data[i] = static_cast<float>((i % 1000) * (rank + 1));
    groups[static_cast<std::size_t>(rank)]
        .all_reduce({data, kCount, DType::Float32}, ReduceOp::Sum)
        .wait();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kCount; ++i) wrong += data[i] != static_cast<float>(i % 1000 * 3);
    EXPECT_EQ(wrong, 0u);
  });
  EXPECT_TRUE(sluggard.is_helped());
}

// Letters wrap around the mark words that a receiver scans.
TEST(SharedBackend, MessagesOfOneTagKeepTheirOrderDuringScans) {
  const auto groups = connect_threads(2, {.timeout = 30s});
  testing::run_rank_threads(2, [&](int rank) {
    const Group& group = groups[static_cast<std::size_t>(rank)];
    for (std::int32_t i = 0; i < 20000; ++i) {
      std::int32_t value = i;
      if (rank == 0) {
        group.send({&value, 1, DType::Int32}, 1, 5).wait();
      } else {
        group.receive({&value, 1, DType::Int32}, 0, 5).wait();
        ASSERT_EQ(value, i);
      }
    }
  });
}

TEST(SharedBackend, AllToAllFitsTheLargestArena) {
  // Every member's lane holds one block per reader.
  EXPECT_THROW(Arena::create({.members = static_cast<int>(kEagerSize / sizeof(MemberSlice)) + 1}),
               Error);
}

}  // namespace
}  // namespace trireme::comm::shm
