// Goal:   at every gate the values of the running block are complete and correct, those of the next
//         block are in flight, and no other bucket has memory; ranks that miss gates stay
//         synchronized; misuse is reported.
// Method: three ranks over TCP with shards whose values identify the rank.

#include "trireme/parallel/zero/gathering.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/comm/tcp_ranks.h"
#include "trireme/base/error.h"

namespace trireme::parallel::zero {
namespace {

using model::PassDirection;

constexpr int kRanks = 3;
constexpr std::int64_t kCounts[kRanks] = {5, 7, 1};  // sizes of the ranks' shards

// Four buckets for three blocks; the last block also reads the first block's bucket, as a tied head
// does.
Gathering make_gathering(const comm::Group& group) {
  Gathering::Options options{
      .group = group, .slices = {}, .counts = {}, .needs = {{0}, {1, 2}, {0, 3}}};
  for (int bucket = 0; bucket < 4; ++bucket) {
    options.slices.push_back(torch::full({kCounts[group.rank()]}, 10.0 * bucket + group.rank()));
    options.counts.emplace_back(std::begin(kCounts), std::end(kCounts));
  }
  return Gathering(std::move(options));
}

bool has_bytes(const Gathering& gathering, std::size_t bucket) {
  return gathering.whole(bucket).storage().data() != nullptr;
}

void expect_whole(const Gathering& gathering, std::size_t bucket) {
  ASSERT_TRUE(has_bytes(gathering, bucket)) << bucket;
  std::int64_t begin = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    const at::Tensor slice = gathering.whole(bucket).narrow(0, begin, kCounts[rank]);
    begin += kCounts[rank];
    EXPECT_TRUE(slice.eq(10.0 * static_cast<double>(bucket) + rank).all().item<bool>())
        << "bucket " << bucket << ", rank " << rank;
  }
}

std::string with_bytes(const Gathering& gathering) {
  std::string all;
  for (std::size_t b = 0; b < 4; ++b) all += has_bytes(gathering, b) ? std::to_string(b) : "";
  return all;
}

TEST(Gathering, BlocksAreCompleteWhileTheyRun) {
  comm::run_tcp_ranks({.count = kRanks}, [](const comm::Group& group) {
    Gathering gathering = make_gathering(group);
    EXPECT_EQ(with_bytes(gathering), "");
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      gathering.begin_micro_batch();
      gathering.reach(0, PassDirection::Forward);
      expect_whole(gathering, 0);
      EXPECT_EQ(with_bytes(gathering), "012");
      gathering.reach(1, PassDirection::Forward);
      expect_whole(gathering, 1);
      expect_whole(gathering, 2);
      EXPECT_EQ(with_bytes(gathering), "0123");
      gathering.reach(2, PassDirection::Forward);
      expect_whole(gathering, 0);
      expect_whole(gathering, 3);
      EXPECT_EQ(with_bytes(gathering), "03");
      gathering.reach(2, PassDirection::Backward);
      expect_whole(gathering, 3);
      EXPECT_EQ(with_bytes(gathering), "0123");
      gathering.reach(1, PassDirection::Backward);
      expect_whole(gathering, 2);
      EXPECT_EQ(with_bytes(gathering), "012");
      gathering.reach(0, PassDirection::Backward);
      expect_whole(gathering, 0);
      EXPECT_EQ(with_bytes(gathering), "0");
      gathering.end_micro_batch();
      EXPECT_EQ(with_bytes(gathering), "");
    }
  });
}

TEST(Gathering, RanksThatMissGatesStaySynchronized) {
  comm::run_tcp_ranks({.count = kRanks}, [](const comm::Group& group) {
    Gathering gathering = make_gathering(group);
    for (int micro_batch = 0; micro_batch < 3; ++micro_batch) {
      gathering.begin_micro_batch();
      // One rank has no samples, one has no backward pass, and one misses only the last gate.
      if (group.rank() != micro_batch) {
        for (std::size_t block = 0; block < 3; ++block)
          gathering.reach(block, PassDirection::Forward);
        if (group.rank() != (micro_batch + 1) % 3) gathering.reach(1, PassDirection::Backward);
      }
      gathering.end_micro_batch();
    }
    gathering.gather_all();
    for (std::size_t bucket = 0; bucket < 4; ++bucket) expect_whole(gathering, bucket);
    // Outside a micro-batch all values stay until drop_all().
    gathering.reach(0, PassDirection::Forward);
    EXPECT_EQ(with_bytes(gathering), "0123");
    gathering.drop_all();
    EXPECT_EQ(with_bytes(gathering), "");
  });
}

TEST(Gathering, BlocksOutOfOrderAreRejected) {
  comm::run_tcp_ranks({.count = kRanks}, [](const comm::Group& group) {
    Gathering gathering = make_gathering(group);
    EXPECT_THROW(gathering.reach(0, PassDirection::Forward), Error);
    gathering.begin_micro_batch();
    gathering.reach(2, PassDirection::Forward);
    EXPECT_THROW(gathering.reach(1, PassDirection::Forward), Error);
    gathering.end_micro_batch();
    Gathering blockless({.group = group, .slices = {torch::ones({2})}, .counts = {{2, 2, 2}}});
    EXPECT_THROW(blockless.begin_micro_batch(), Error);
    blockless.gather_all();
    EXPECT_EQ(blockless.whole(0).sum().item<double>(), 6);
  });
}

}  // namespace
}  // namespace trireme::parallel::zero
