// Goal:   every operation that can be measured is also checked correctly, for any number of ranks
//         and all types; timing and bounds complete and do not change the result.
// Method: ranks as threads, small sizes.

#include "bench/comm/rank/exercise.h"

#include <gtest/gtest.h>

#include <thread>

#include "bench/comm/rank/bound.h"
#include "bench/comm/rank/measure.h"
#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"

namespace trireme::bench {
namespace {

using comm::OpKind;

template <class Body>
void on_ranks(int ranks, const Body& body) {
  const auto groups = comm::connect_threads(ranks, {.timeout = std::chrono::seconds(60)});
  std::vector<std::thread> threads;
  for (const comm::Group& group : groups) {
    threads.emplace_back([&body, &group] {
      try {
        comm::guarded(group, [&] { body(group); });
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << group.rank() << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

constexpr OpKind kAll[] = {OpKind::AllReduce, OpKind::ReduceScatter, OpKind::AllGather,
                           OpKind::Broadcast, OpKind::Reduce,        OpKind::Gather,
                           OpKind::Scatter,   OpKind::AllToAll,      OpKind::OrderedSum,
                           OpKind::Barrier,   OpKind::Send};

TEST(Exercise, EveryOperationIsRight) {
  for (int ranks : {1, 2, 3}) {
    on_ranks(ranks, [](const comm::Group& group) {
      for (OpKind op : kAll) {
        for (std::size_t bytes : {0, 1, 13, 4096, 70000}) {
          for (bool is_symmetric : {false, true}) {
            if (is_symmetric && group.size() == 1) continue;
            Exercise exercise(group, {.op = op, .bytes = bytes, .is_symmetric = is_symmetric});
            EXPECT_EQ(exercise.check().value_or("right"), "right")
                << comm::name_of(op) << " of " << bytes;
            EXPECT_LE(exercise.bytes(), bytes);
          }
        }
      }
    });
  }
}

TEST(Exercise, EveryTypeIsRight) {
  on_ranks(2, [](const comm::Group& group) {
    for (int t = 0; t < comm::kDTypeCount; ++t) {
      Exercise exercise(group, {.bytes = 70000, .type = static_cast<comm::DType>(t)});
      EXPECT_EQ(exercise.check().value_or("right"), "right");
    }
  });
}

TEST(Exercise, ARankThatLeavesSomethingOutIsNoticed) {
  on_ranks(2, [](const comm::Group& group) {
    // Both ranks call it; the result is wrong because rank 1's input differs from the pattern.
    Exercise exercise(group, {.bytes = 4096});
    EXPECT_EQ(exercise.check(), std::nullopt);
    fill(exercise.input(), group.rank(), group.size());
    if (group.rank() == 1) static_cast<float*>(exercise.input().data)[1000] += 1;
    exercise.call();
    EXPECT_TRUE(find_wrong(exercise.output(), {0, 1024, 0, {0, 1}}, 2));
  });
}

TEST(Exercise, MemoryThatNobodySharesCannotBeSymmetric) {
  EXPECT_THROW(Exercise(comm::Group::solo(), {.bytes = 64, .is_symmetric = true}), Error);
}

TEST(Exercise, NamesLeadToOperationsAndTypes) {
  EXPECT_EQ(operation_named("all_reduce"), OpKind::AllReduce);
  EXPECT_EQ(type_named("bfloat16"), comm::DType::BFloat16);
  EXPECT_THROW(operation_named("allreduce"), Error);
  EXPECT_THROW(type_named("float"), Error);
}

TEST(Measure, TimesAndBoundsArePositiveAndTheAnswerStaysRight) {
  on_ranks(2, [](const comm::Group& group) {
    for (bool is_symmetric : {false, true}) {
      Exercise exercise(group, {.bytes = 1 << 16, .is_symmetric = is_symmetric});
      const auto bounds = make_bounds(group, exercise);
      EXPECT_GE(bounds.size(), 2u);
      const Timing timing = measure(group, exercise, bounds, 0.01);
      EXPECT_GT(timing.p50, 0);
      EXPECT_GE(timing.p99, timing.p50);
      ASSERT_EQ(timing.bounds.size(), bounds.size());
      for (double seconds : timing.bounds) EXPECT_GT(seconds, 0);
      EXPECT_EQ(exercise.check().value_or("right"), "right");
    }
  });
}

TEST(Bound, SocketsExchangeBetweenPairsAndTheOddOneSitsOut) {
  on_ranks(3, [](const comm::Group& group) {
    Exercise exercise(group, {.bytes = 3 << 16});
    const Bound bound = make_socket_bound(group, exercise, "127.0.0.1");
    EXPECT_EQ(static_cast<bool>(bound.run), group.rank() < 2);
    if (bound.run) bound.run();
  });
}

TEST(Bound, TheBarrierAndTheEmptySpanHaveNone) {
  on_ranks(2, [](const comm::Group& group) {
    EXPECT_TRUE(make_bounds(group, Exercise(group, {.op = OpKind::Barrier})).empty());
    EXPECT_TRUE(make_bounds(group, Exercise(group, {.bytes = 0})).empty());
  });
}

}  // namespace
}  // namespace trireme::bench
