// Goal:   a rank that fails at any named point inside a collective reports the cause itself, and
//         the other ranks receive it with its message in time.
// Method: faults that throw once on one rank, at every point and for every way in which data moves.
//         Here on threads; tests/process covers deaths and freezes of processes.

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "tests/conformance/buffer.h"
#include "tests/conformance/failing.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm::conformance {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 3;
constexpr int kVictim = 1;

class Strike final : public Faults {
 public:
  explicit Strike(FaultPoint point) : point_(point) {}
  void reached(FaultPoint point, int rank) override {
    if (!is_armed || rank != kVictim || point != point_) return;
    struck = steady_clock().now();
    throw Error(ErrorCode::Exhausted, "no memory at " + std::string(point.name));
  }
  std::atomic<bool> is_armed{false};
  TimePoint struck{};  // on the failing rank's own thread

 private:
  FaultPoint point_;
};

struct Outcome {
  std::optional<Error> errors[kRanks];
};

// All ranks reduce until they fail: others may complete the operation in which one rank fails.
Outcome strike(FaultPoint point, std::size_t count, Place place) {
  Strike faults(point);
  const auto groups = connect_threads(kRanks, {.timeout = 20s}, &faults);
  Outcome outcome;
  testing::run_rank_threads(kRanks, [&](int rank) {
    const Group& group = groups[static_cast<std::size_t>(rank)];
    Buffer data(group, DType::Float32, count, place);
    Buffer all(group, DType::Float32, count * kRanks, place);
    group.barrier().wait();
    if (rank == kVictim) faults.is_armed = true;
    outcome.errors[rank] = error_of([&] {
      for (;;) {
        group.all_reduce(data.span(), ReduceOp::Max).wait();
        group.all_gather(all.span(), data.span()).wait();
      }
    });
  });
  return outcome;
}

class Fault : public ::testing::TestWithParam<FaultPoint> {};

TEST_P(Fault, TheErrorReachesEveryRank) {
  const std::string text = "no memory at " + std::string(GetParam().name);
  for (const std::size_t count : {3u, 5000u, 300000u}) {
    for (const Place place : {Place::Ordinary, Place::Shared}) {
      const Outcome outcome = strike(GetParam(), count, place);
      for (int rank = 0; rank < kRanks; ++rank) {
        const auto& error = outcome.errors[rank];
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->code(), rank == kVictim ? ErrorCode::Exhausted : ErrorCode::RemoteFailure)
            << error->what();
        EXPECT_TRUE(says(*error, text)) << error->what();
        EXPECT_TRUE(says(*error, "rank 1")) << error->what();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Points, Fault,
                         ::testing::Values(shm::kBeforeEnter, shm::kEntered, shm::kHalfway,
                                           shm::kBeforeFinish),
                         [](const auto& test) { return std::string(test.param.name.substr(4)); });

}  // namespace
}  // namespace trireme::comm::conformance
