// Goal:   an operation that waits for a rank that has left normally fails at once; the work that
//         the rank completed before stays complete; a group that failed is not left normally.
// Method: two ranks as threads; one of them drops its group, the other one continues to use its
//         own.

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "trireme/comm/connect_threads.h"
#include "trireme/comm/shm/lanes.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm::shm {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kStaged = 100000;

std::optional<Error> error_in(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// Rank 1 runs `last` and leaves; rank 0 then runs `rest` and must get the departure error.
void expect_told(const std::function<void(const Group&)>& last,
                 const std::function<void(const Group&)>& rest) {
  auto groups = connect_threads(2, {.timeout = 30s});
  std::atomic<bool> has_left{false};
  testing::run_rank_threads(2, [&](int rank) {
    if (rank == 1) {
      const Group group = std::exchange(groups[1], Group::solo());
      last(group);
      has_left = true;
      return;
    }
    const auto error = error_in([&] { rest(groups[0]); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::PeerLost) << error->what();
    EXPECT_EQ(error->peer(), 1) << error->what();
    EXPECT_EQ(error->message(), "rank 1 left while it was waited for");
    EXPECT_TRUE(has_left);
  });
}

void reduce_ones(const Group& group, std::size_t count) {
  std::vector<float> data(count, 1.0f);
  group.all_reduce(span(data), ReduceOp::Sum).wait();
  EXPECT_EQ(std::count(data.begin(), data.end(), 2.0f), static_cast<std::ptrdiff_t>(count));
}

TEST(Leaving, EndsOperationsThatTheRankNeverEntered) {
  for (const std::size_t count : {std::size_t{3}, kStaged}) {
    for (const int rounds : {0, 1, 40}) {
      const auto work = [&](const Group& group) {
        for (int round = 0; round < rounds; ++round) reduce_ones(group, count);
      };
      expect_told(work, [&](const Group& group) {
        work(group);
        reduce_ones(group, count);
      });
    }
  }
}

TEST(Leaving, EndsAllOperationsInFlight) {
  expect_told([](const Group& group) { reduce_ones(group, 3); },
              [](const Group& group) {
                reduce_ones(group, 3);
                std::vector<float> data(3);
                std::vector<Work> works;
                for (int i = 0; i < 5; ++i) {
                  works.push_back(group.all_reduce(span(data), ReduceOp::Sum));
                }
                wait_all(works);
              });
}

// Twenty messages of one tag are pending when their sender has left; a further one never arrives.
TEST(Leaving, MessagesSentBeforeAreStillReceived) {
  constexpr int kMessages = 20;
  expect_told(
      [](const Group& group) {
        for (std::int32_t i = 0; i < kMessages; ++i) {
          group.send(ConstSpan(&i, 1, DType::Int32), 0, 7).wait();
        }
      },
      [](const Group& group) {
        std::this_thread::sleep_for(100ms);  // longer than the grace period of a departure
        std::int32_t numbers[kMessages + 1];
        std::vector<Work> works;
        // The later receives run first and must leave the earlier ones their messages.
        for (int i = 0; i < kMessages; ++i) {
          works.push_back(group.receive({&numbers[i], 1, DType::Int32}, 1, 7, {.priority = i}));
        }
        wait_all(works);
        for (std::int32_t i = 0; i < kMessages; ++i) EXPECT_EQ(numbers[i], i);
        group.receive({&numbers[kMessages], 1, DType::Int32}, 1, 7).wait();
      });
}

TEST(Leaving, EndsALargeMessageThatIsNeverReceived) {
  for (const bool is_shared : {false, true}) {
    expect_told([](const Group&) {},
                [&](const Group& group) {
                  std::vector<float> own(kStaged);
                  const ArenaPiece piece = group.arena()->allocate(0, kStaged * 4);
                  const void* data = is_shared ? static_cast<void*>(piece.data()) : own.data();
                  group.send({data, kStaged, DType::Float32}, 1, 7).wait();
                });
  }
}

// The error of the failed rank is the better one: the others receive it, or wait until their
// deadline.
TEST(Leaving, AFailedGroupReportsNoNormalDeparture) {
  auto groups = connect_threads(2, {.timeout = 30s});
  testing::run_rank_threads(2, [&](int rank) {
    if (rank == 1) {
      std::exchange(groups[1], Group::solo()).abort(Error(ErrorCode::Aborted, "enough"));
      return;
    }
    std::vector<float> data(3);
    const auto error = error_in([&] {
      groups[0].all_reduce(span(data), ReduceOp::Sum, {.deadline = Deadline::after(300ms)}).wait();
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::Deadline) << error->what();
  });
}

// The process reports it: the rank never created the group in which others wait for it.
TEST(Leaving, OfAProcessIsNotedOnlyForItsMembers) {
  const auto arena = Arena::create({.members = 2});
  Lanes lanes(arena, {{0, 4}, {1, 9}}, 0, 77, Deadline::after(30s));
  lanes.note_departure(5);
  lanes.note_departure(9);
  EXPECT_FALSE(lanes.has_left(1)) << "the error that made it leave may still arrive";
  const Deadline soon = Deadline::after(30s);
  while (!lanes.has_left(1) && !soon.is_past()) std::this_thread::yield();
  EXPECT_TRUE(lanes.has_left(1));
  EXPECT_FALSE(lanes.has_left(0));
  EXPECT_EQ(lanes.departure_of(1).peer(), 9);
}

}  // namespace
}  // namespace trireme::comm::shm
