// Goal:   every algorithm over messages computes the correct sums, identical on every rank, for any
//         number of ranks and any size; members with different requests get a Mismatch error.
// Method: ranks as threads, connected over real TCP. Values are small integers, so that sums are
//         exact in every type and order.

#include "trireme/comm/algorithm/message_backend.h"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>

#include "tests/comm/fake_messenger.h"
#include "tests/comm/tcp_ranks.h"
#include "trireme/comm/kernel/half.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

template <class T>
T value_of(int rank, std::size_t i) {
  return static_cast<T>(rank + 1 + static_cast<int>(i % 5));
}

template <class T>
void check_all_reduce(const Group& group, std::size_t count, ReduceOp op) {
  std::vector<T> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = value_of<T>(group.rank(), i);
  group.all_reduce(span(data), op).wait();
  const int n = group.size();
  for (std::size_t i = 0; i < count; ++i) {
    T expected = value_of<T>(0, i);
    for (int r = 1; r < n; ++r) {
      const T other = value_of<T>(r, i);
      expected = op == ReduceOp::Max ? std::max(expected, other) : static_cast<T>(expected + other);
    }
    if (op == ReduceOp::Mean) expected = static_cast<T>(expected / static_cast<T>(n));
    ASSERT_EQ(data[i], expected) << "element " << i << " of " << count;
  }
}

struct Case {
  Algorithm algorithm;
  int ranks;
};

class Algorithms : public ::testing::TestWithParam<Case> {};

TEST_P(Algorithms, ComputeCorrectSums) {
  run_tcp_ranks({.count = GetParam().ranks, .backend = {.algorithm = GetParam().algorithm}},
                [](const Group& group) {
                  // One chunk is 65,536 floats: less than one chunk, exactly one, and many.
                  for (std::size_t count :
                       {std::size_t{1}, std::size_t{3}, std::size_t{1024}, std::size_t{1025},
                        std::size_t{4097}, std::size_t{65536}, std::size_t{300007}}) {
                    check_all_reduce<float>(group, count, ReduceOp::Sum);
                  }
                  check_all_reduce<double>(group, 5003, ReduceOp::Mean);
                  check_all_reduce<std::int32_t>(group, 5003, ReduceOp::Max);
                });
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (Algorithm algorithm : {Algorithm::Direct, Algorithm::RecursiveDoubling,
                              Algorithm::HalvingDoubling, Algorithm::Ring, Algorithm::Tree}) {
    for (int ranks : {2, 3, 4, 7}) all.push_back({algorithm, ranks});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, Algorithms, ::testing::ValuesIn(cases()),
                         [](const auto& param_info) {
                           return std::string(name_of(param_info.param.algorithm)) + "_" +
                                  std::to_string(param_info.param.ranks);
                         });

TEST(MessageBackend, HalvesAreRoundedOnceByEveryAlgorithm) {
  run_tcp_ranks({.count = 3, .backend = {.algorithm = Algorithm::Ring}}, [](const Group& group) {
    // 256 + 1 + 1 = 258 is a bfloat16, but a partial sum 256 + 1 would be rounded to 256.
    std::vector<std::uint16_t> data(4096, narrow_bfloat16(group.rank() == 0 ? 256.0f : 1.0f));
    group.all_reduce({data.data(), data.size(), DType::BFloat16}, ReduceOp::Sum).wait();
    EXPECT_EQ(widen_bfloat16(data[4095]), 258.0f);
  });
}

TEST(MessageBackend, StreamsAndChecksumsDoNotChangeTheResult) {
  run_tcp_ranks({.count = 2, .streams = 3, .checksums = true}, [](const Group& group) {
    check_all_reduce<float>(group, 1000003, ReduceOp::Sum);
    std::vector<int> all(8), piece(4, group.rank());
    group.all_gather(span(all), const_span(piece)).wait();
    EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0), 4);
  });
}

TEST(MessageBackend, ManyOperationsOfSeveralGroupsCompleteInAnyOrder) {
  run_tcp_ranks({.count = 3}, [](const Group& group) {
    const std::vector<int> reversed{2, 1, 0};
    const Group other = group.subgroup(reversed);
    std::vector<std::vector<float>> data(24, std::vector<float>(20000, 1.0f));
    std::vector<Work> works;
    for (std::size_t i = 0; i < data.size(); ++i) {
      works.push_back((i % 2 == 0 ? group : other).all_reduce(span(data[i]), ReduceOp::Sum));
    }
    if (group.rank() == 1) std::reverse(works.begin(), works.end());
    wait_all(works);
    for (const auto& values : data) EXPECT_EQ(values[19999], 3.0f);
    other.barrier().wait();
  });
}

TEST(MessageBackend, DifferentRequestsAreAMismatch) {
  run_tcp_ranks({.count = 2}, [](const Group& group) {
    std::vector<float> data(group.rank() == 0 ? 10 : 11, 1.0f);
    try {
      group.all_reduce(span(data), ReduceOp::Sum).wait();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Mismatch) << error.what();
      EXPECT_NE(std::string(error.what()).find("rank 0 asked for all_reduce of 10 float32"),
                std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("rank 1 for all_reduce of 11"), std::string::npos);
    }
  });
}

// Rank 0 of two; the other rank never answers.
class MessageBackendAhead : public ::testing::Test {
 protected:
  void begin(OpKind kind) {
    ops_.emplace_back();
    ops_.back().request = {.kind = kind, .count = kind == OpKind::Send ? 1u : 0u};
    ops_.back().sequence = ops_.size();
    ops_.back().peer = kind == OpKind::Send ? 1 : -1;
    ops_.back().tag = static_cast<std::uint32_t>(ops_.size());
    ops_.back().input = &data_;
    tasks_.push_back(backend_.run(ops_.back()));
    tasks_.back().step();
  }

  std::byte data_{};
  std::shared_ptr<FakeMessenger> messenger_ = std::make_shared<FakeMessenger>();
  MessageBackend backend_{messenger_, {0, 1}, 0, 5, {}};
  std::deque<Operation> ops_;
  std::vector<Task> tasks_;
};

TEST_F(MessageBackendAhead, AnOperationBeyondTheLimitWaitsForTheOldest) {
  for (int i = 0; i < 100; ++i) begin(OpKind::Barrier);
  EXPECT_EQ(messenger_->sends, static_cast<int>(kAheadMax))
      << "the number of unanswered messages is bounded";
  const Error error = backend_.stalled(ops_[99], std::chrono::seconds(1));
  EXPECT_NE(std::string(error.what()).find("waits behind operation #1"), std::string::npos)
      << error.what();
}

TEST_F(MessageBackendAhead, TaggedMessagesBeyondTheLimitWaitForAnAcknowledgement) {
  for (int i = 0; i < 150; ++i) begin(OpKind::Send);
  EXPECT_EQ(messenger_->sends, static_cast<int>(kUnreadMax));
  EXPECT_EQ(messenger_->receives, 1) << "the acknowledgement";
  messenger_->begun.back()->is_done = true;
  for (std::size_t i = kUnreadMax; i < 150; ++i) tasks_[i].step();
  EXPECT_EQ(messenger_->sends, static_cast<int>(kUnreadMax + kAckEvery));
}

TEST(MessageBackend, TaggedMessagesKeepTheirOrderWithinATag) {
  run_tcp_ranks({.count = 2}, [](const Group& group) {
    constexpr int kMany = 1000;
    std::vector<std::int32_t> values(kMany);
    std::vector<Work> works;
    // Both directions at once; in batches whose tags are received in reverse order.
    for (int i = 0; i < kMany; ++i) {
      values[static_cast<std::size_t>(i)] = i;
      const auto tag = static_cast<std::uint32_t>(i % 50);
      works.push_back(group.send({&values[static_cast<std::size_t>(i)], 1, DType::Int32},
                                 1 - group.rank(), tag));
    }
    for (int batch = 0; batch < kMany / 50; ++batch) {
      for (int tag = 49; tag >= 0; --tag) {
        std::int32_t got = -1;
        group.receive({&got, 1, DType::Int32}, 1 - group.rank(), static_cast<std::uint32_t>(tag))
            .wait();
        ASSERT_EQ(got, batch * 50 + tag);
      }
    }
    wait_all(works);
  });
}

TEST(MessageBackend, AlgorithmsHaveNames) {
  for (int i = 0; i < 6; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    EXPECT_EQ(algorithm_named(name_of(algorithm)), algorithm);
  }
  EXPECT_THROW(algorithm_named("rnig"), Error);
}

}  // namespace
}  // namespace trireme::comm
