// Goal:   the memory of an operation that ended early belongs to its caller again: no other rank
//         reads or writes it later, and if a rank is stuck while accessing it, it is never
//         allocated again.
// Method: two ranks as threads with spans in the arena; a fault point holds one of them between two
//         strides, or inside one, while the other gives up and reuses its memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "trireme/comm/connect_threads.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm::shm {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kCount = std::size_t{1} << 20;  // floats: four strides per rank

// Holds rank 1 at its first pass of a fault point until it is released.
class Gate : public Faults {
 public:
  explicit Gate(FaultPoint point) : point_(point) {}
  void reached(FaultPoint point, int rank) override {
    if (rank != 1 || !(point == point_) || is_used_.exchange(true)) return;
    here_.set_value();
    open_.get_future().wait();
  }
  void await() { here_.get_future().wait(); }
  void open() { open_.set_value(); }

 private:
  FaultPoint point_;
  std::atomic<bool> is_used_{false};
  std::promise<void> here_, open_;
};

ErrorCode code_of_wait(Work& work) {
  try {
    work.wait();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::NotFound;  // no error
}

using Begin = std::function<Work(const Group&, float* data, float* out, const Call&)>;

Work reduce_in_place(const Group& group, float* data, float*, const Call& call) {
  return group.all_reduce({data, kCount, DType::Float32}, ReduceOp::Sum, call);
}
Work gather_from_places(const Group& group, float* data, float* out, const Call& call) {
  return group.all_gather({out, 2 * kCount, DType::Float32}, {data, kCount, DType::Float32}, call);
}

// Rank 0 makes some progress, gives up while rank 1 is held at the point with work left, and fills
// its memory with 7.
void expect_memory_is_left_alone(const Begin& begin, FaultPoint point) {
  Gate gate(point);
  const auto groups = connect_threads(2, {.timeout = 30s}, &gate);
  ArenaPiece pieces[] = {groups[0].arena()->allocate(0, kCount * 4),
                         groups[0].arena()->allocate(1, kCount * 4)};
  testing::run_rank_threads(2, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    auto* data = reinterpret_cast<float*>(pieces[r].data());
    std::fill_n(data, kCount, 1.0f);
    std::vector<float> out(2 * kCount);
    const Duration time = rank == 0 ? Duration(30s) : Duration(2s);
    Work work = begin(groups[r], data, out.data(), {.deadline = Deadline::after(time)});
    if (rank == 1) {
      EXPECT_EQ(code_of_wait(work), ErrorCode::Deadline)
          << "the result contains data of released memory";
      return;
    }
    gate.await();
    for (int move = 0; move < 3; ++move) EXPECT_FALSE(work.is_done());
    groups[r].abort(Error(ErrorCode::Aborted, "enough"));
    EXPECT_EQ(code_of_wait(work), ErrorCode::Aborted);
    std::fill_n(data, kCount, 7.0f);
    gate.open();
  });
  const auto* data = reinterpret_cast<const float*>(pieces[0].data());
  EXPECT_EQ(std::count(data, data + kCount, 7.0f), static_cast<std::ptrdiff_t>(kCount));
}

TEST(Closing, NoRankWritesIntoTheMemoryOfAnAbandonedReduction) {
  expect_memory_is_left_alone(reduce_in_place, kHalfway);
}

TEST(Closing, NoRankReadsTheMemoryOfAnAbandonedGather) {
  expect_memory_is_left_alone(gather_from_places, kEntered);
}

// Rank 0 gives up while the other rank still accesses its memory, and must be given other memory.
TEST(Closing, MemoryThatAStuckRankMayStillWriteIsNotAllocatedAgain) {
  Gate gate(kTouching);
  const auto groups = connect_threads(2, {.timeout = 30s}, &gate);
  const auto arena = groups[0].arena();
  testing::run_rank_threads(2, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    ArenaPiece piece = arena->allocate(rank, kCount * 4);
    std::byte* const place = piece.data();
    Work work = reduce_in_place(groups[r], reinterpret_cast<float*>(place), nullptr,
                                {.deadline = Deadline::after(2s)});
    if (rank == 1) {
      EXPECT_EQ(code_of_wait(work), ErrorCode::Deadline);
      return;
    }
    gate.await();
    groups[r].abort(Error(ErrorCode::Aborted, "enough"));
    EXPECT_EQ(code_of_wait(work), ErrorCode::Aborted);
    piece = ArenaPiece();
    EXPECT_NE(arena->allocate(rank, kCount * 4).data(), place);
    gate.open();
  });
}

// Eight ranks, each with many operations in flight in place; the last one never completes.
TEST(Closing, EightRanksAbandonTheirOperationsTogether) {
  constexpr int kRanks = 8;
  const auto groups = connect_threads(kRanks, {.timeout = 30s});
  std::atomic<int> waiting{0};
  testing::run_rank_threads(kRanks, [&](int rank) {
    if (rank == kRanks - 1) return;
    const Group& group = groups[static_cast<std::size_t>(rank)];
    const ArenaPiece piece = group.arena()->allocate(rank, kCount * 4);
    auto* data = reinterpret_cast<float*>(piece.data());
    std::vector<Work> works;
    for (std::size_t i = 0; i < 12; ++i) {
      const std::size_t part = kCount / 12;
      works.push_back(group.all_reduce({data + i * part, part, DType::Float32}, ReduceOp::Sum));
    }
    std::thread other([&] {
      ++waiting;
      while (waiting < kRanks - 1) std::this_thread::yield();
      group.abort(Error(ErrorCode::Aborted, "enough"));
    });
    for (Work& work : works) EXPECT_EQ(code_of_wait(work), ErrorCode::Aborted);
    other.join();
  });
}

TEST(Closing, MemoryOfAFinishedOperationIsAllocatedAgain) {
  const auto groups = connect_threads(2, {.timeout = 30s});
  const auto arena = groups[0].arena();
  testing::run_rank_threads(2, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    ArenaPiece piece = arena->allocate(rank, kCount * 4);
    std::byte* const place = piece.data();
    std::fill_n(reinterpret_cast<float*>(place), kCount, 1.0f);
    reduce_in_place(groups[r], reinterpret_cast<float*>(place), nullptr, {}).wait();
    groups[r].abort(Error(ErrorCode::Aborted, "enough"));
    piece = ArenaPiece();
    EXPECT_EQ(arena->allocate(rank, kCount * 4).data(), place);
  });
}

}  // namespace
}  // namespace trireme::comm::shm
