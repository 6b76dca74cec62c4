// Goal:   ranks save everything once, whether they all hold all of it, slices, or slices with
//         replicas elsewhere, which other ranks may cut at other elements.
// Method: four ranks as threads, each with the pieces that such a rank would hold; what they save
//         is put together.

#include "trireme/train/saved_pieces.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>
#include <mutex>

#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/data/plan/bucket_plan.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::train {
namespace {

constexpr int kSavers = 4;
constexpr std::int64_t kSavedCount = 1009;

// Slice `index` of `slices` of a vector that counts up.
std::vector<checkpoint::Piece> slice(std::int64_t index, std::int64_t slices) {
  const std::int64_t begin = kSavedCount * index / slices;
  const std::int64_t end = kSavedCount * (index + 1) / slices;
  return {{.name = "w",
           .shard = {{kSavedCount}},
           .begin = begin,
           .data = torch::arange(begin, end).to(torch::kFloat)}};
}

void expect_saved_once(int slices) {
  const std::vector<comm::Group> groups = comm::connect_threads(kSavers);
  std::mutex mutex;
  std::map<std::int64_t, float> found;
  testing::run_rank_threads(kSavers, [&](int rank) {
    const auto saved = saved_pieces(slice(rank % slices, slices), groups[rank], true);
    ASSERT_EQ(saved.size(), 1u);
    EXPECT_NEAR(static_cast<double>(saved[0].data.numel()), kSavedCount / 4.0, 2);
    const std::lock_guard lock(mutex);
    for (std::int64_t i = 0; i < saved[0].data.numel(); ++i) {
      EXPECT_TRUE(found.emplace(saved[0].begin + i, saved[0].data[i].item<float>()).second);
    }
  });
  ASSERT_EQ(found.size(), static_cast<std::size_t>(kSavedCount));
  for (const auto& [at, value] : found) EXPECT_EQ(value, static_cast<float>(at));
}

TEST(SavedPieces, OfReplicasAndSlicesAreThereOnce) {
  for (const int slices : {1, 2, 4}) expect_saved_once(slices);
}

// Four ranks, 2 data-parallel x 2 tensor-parallel: each pair has its own half of "cut", and all
// have "norm".
TEST(SavedPieces, OfTensorParallelRanksAreThereOnce) {
  const std::vector<comm::Group> groups = comm::connect_threads(kSavers);
  const mesh::View view(std::vector<std::int64_t>{10, 8});
  std::mutex mutex;
  std::map<std::pair<std::string, std::int64_t>, int> times;  // by element
  testing::run_rank_threads(kSavers, [&](int rank) {
    const mesh::Shard half(view, {{0, rank % 2 * 4}, {10, 4}});
    const std::vector<checkpoint::Piece> held{
        {.name = "cut", .shard = half, .data = torch::zeros({10, 4})},
        {.name = "norm", .shard = {{24}}, .data = torch::zeros({24})}};
    std::int64_t saved = 0;
    for (const checkpoint::Piece& piece : saved_pieces(held, groups[rank], rank % 2 == 0)) {
      const std::lock_guard lock(mutex);
      saved += piece.data.numel();
      const std::int64_t first = piece.name == "cut" ? rank % 2 * 40 : 0;
      for (std::int64_t i = 0; i < piece.data.numel(); ++i) {
        ++times[{piece.name, first + piece.begin + i}];
      }
    }
    // The first ranks of the two replicas save "norm", too.
    EXPECT_EQ(saved, rank % 2 == 0 ? 32 : 20) << "rank " << rank;
  });
  EXPECT_EQ(times.size(), 80U + 24U);
  for (const auto& [element, count] : times) {
    EXPECT_EQ(count, 1) << element.first << " " << element.second;
  }
}

// The same ranks with ZeRO. The tensor-parallel ranks hold 1 and 2 of 3 heads, so the halves into
// which ZeRO divides all that they hold meet at different elements of "norm", which both hold.
TEST(SavedPieces, OfReplicatedParametersAreThereOnceWhereShardsEndElsewhere) {
  constexpr std::int64_t kHead = 64, kNorm = 1024;
  const auto plan_of = [](std::int64_t heads) {
    return parallel::data::BucketPlan::make(
        std::vector<parallel::data::BucketPlan::Parameter>{{.count = heads * kHead},
                                                           {.count = kNorm}},
        std::vector<std::size_t>{0, 1}, {});
  };
  const auto ends_at = [&](std::int64_t heads) {
    const auto plan = plan_of(heads);
    return plan.buckets.at(0).bound(1, 2) - plan.range_of[1].begin;
  };
  ASSERT_EQ(ends_at(1), 480);
  ASSERT_EQ(ends_at(2), 448);
  const std::vector<comm::Group> groups = comm::connect_threads(kSavers);
  std::mutex mutex;
  std::map<std::int64_t, int> times;
  testing::run_rank_threads(kSavers, [&](int rank) {
    const auto plan = plan_of(rank % 2 + 1);
    const auto norm = plan.range_of[1];
    const auto own = parallel::data::common(norm, plan.buckets.at(0).slice(rank / 2, 2));
    const std::vector<checkpoint::Piece> held{{.name = "norm",
                                               .shard = {{kNorm}},
                                               .begin = own.begin - norm.begin,
                                               .data = torch::zeros({own.count()})}};
    for (const checkpoint::Piece& piece : saved_pieces(held, groups[rank], rank % 2 == 0)) {
      const std::lock_guard lock(mutex);
      for (std::int64_t i = 0; i < piece.data.numel(); ++i) ++times[piece.begin + i];
    }
  });
  EXPECT_EQ(times.size(), static_cast<std::size_t>(kNorm));
  for (const auto& [at, count] : times) EXPECT_EQ(count, 1) << "element " << at;
}

// Ranks 0 and 1 hold the same pieces and list them in different orders.
TEST(SavedPieces, OfHoldersWithOtherOrdersAreThereOnce) {
  const std::vector<comm::Group> groups = comm::connect_threads(kSavers);
  std::mutex mutex;
  std::map<std::string, std::int64_t> elements;
  testing::run_rank_threads(kSavers, [&](int rank) {
    const std::string half = rank < 2 ? "" : std::to_string(rank);
    std::vector<checkpoint::Piece> held{
        {.name = "a" + half, .shard = {{10}}, .data = torch::zeros({10})},
        {.name = "b" + half, .shard = {{30}}, .data = torch::zeros({30})}};
    if (rank == 1) std::swap(held[0], held[1]);
    for (const checkpoint::Piece& piece : saved_pieces(held, groups[rank], true)) {
      const std::lock_guard lock(mutex);
      elements[piece.name] += piece.data.numel();
      EXPECT_EQ(piece.begin, rank == 1 ? 10 : 0);
    }
  });
  EXPECT_EQ(elements["a"], 10);
  EXPECT_EQ(elements["b"], 30);
}

TEST(SavedPieces, OfOneAreAll) {
  EXPECT_EQ(saved_pieces(slice(0, 1), comm::Group::solo(), true)[0].data.numel(), kSavedCount);
}

}  // namespace
}  // namespace trireme::train
