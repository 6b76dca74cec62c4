// Goal:   the pieces of all ranks cover every value and state once, at the right offsets; a
//         parameter without elements occurs once, too.
// Method: three ranks, each with a compact layout whose values are their own flat indices.

#include "trireme/parallel/data/storage/pieces.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel::data {
namespace {

constexpr int kPieceRanks = 3;
constexpr std::int64_t kPieceSizes[] = {7, 100, 33, 0};

std::vector<Parameter> piece_parameters() {
  std::vector<Parameter> all;
  for (const std::int64_t size : kPieceSizes) {
    all.push_back({.name = "p" + std::to_string(size), .tensor = torch::zeros({size})});
  }
  return all;
}

// Shards of the values and of one state. Each value is its index in the flat space, each state its
// index + 1000.
StorageLayout piece_layout(int rank) {
  std::vector<BucketPlan::Parameter> shapes;
  for (const std::int64_t size : kPieceSizes) shapes.push_back({.count = size});
  StorageLayout layout;
  const std::vector<std::size_t> order{3, 2, 1, 0};
  layout.plan = BucketPlan::make(shapes, order, {.bucket_count = 64});
  const CompactPlan compact(layout.plan, rank, kPieceRanks);
  layout.values = {torch::zeros({compact.count}), true, compact.shift};
  layout.states = {{torch::zeros({compact.count}), true, compact.shift}};
  for (std::size_t b = 0; b < layout.plan.buckets.size(); ++b) {
    const ElementRange own = layout.plan.buckets[b].slice(rank, kPieceRanks);
    layout.own.push_back(own);
    layout.values.at(b, own).copy_(torch::arange(own.begin, own.end));
    layout.states[0].at(b, own).copy_(torch::arange(own.begin, own.end) + 1000);
  }
  return layout;
}

TEST(Pieces, OfAllRanksCoverEverythingOnce) {
  std::map<std::string, std::map<std::int64_t, float>> found;
  std::map<std::string, int> pieces;
  for (int rank = 0; rank < kPieceRanks; ++rank) {
    const StorageLayout layout = piece_layout(rank);
    for (const checkpoint::Piece& piece :
         own_pieces(layout, piece_parameters(), {"m"}, /*has_empty=*/rank == 0)) {
      ++pieces[piece.name];
      for (std::int64_t i = 0; i < piece.data.numel(); ++i) {
        EXPECT_TRUE(found[piece.name].emplace(piece.begin + i, piece.data[i].item<float>()).second);
      }
    }
  }
  const StorageLayout layout = piece_layout(0);
  EXPECT_EQ(pieces.at("p0"), 1);
  EXPECT_EQ(pieces.at(state_name("m", "p0")), 1);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string name = "p" + std::to_string(kPieceSizes[i]);
    EXPECT_EQ(found[name].size(), static_cast<std::size_t>(kPieceSizes[i]));
    for (const auto& [at, value] : found[name]) {
      EXPECT_EQ(value, static_cast<float>(layout.plan.range_of[i].begin + at));
      EXPECT_EQ(found[state_name("m", name)][at], value + 1000);
    }
  }
}

}  // namespace
}  // namespace trireme::parallel::data
