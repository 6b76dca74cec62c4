// Goal:   the ranges of all ranks together cover every element of every piece exactly once, in
//         order, and their lengths differ by at most one element.
// Method: every number of ranks up to nine over pieces of sizes 0, 1 and primes, of two types, some
//         of which are already shards.

#include "trireme/checkpoint/fair_part.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>

namespace trireme::checkpoint {
namespace {

std::vector<Piece> pieces_of(const std::vector<std::int64_t>& counts) {
  std::vector<Piece> pieces;
  for (const std::int64_t count : counts) {
    const bool is_wide = pieces.size() % 2 == 1;
    pieces.push_back({.name = "p" + std::to_string(pieces.size()),
                      .shard = {{count + 10}},
                      .begin = 5,
                      .data = torch::arange(5, 5 + count).to(is_wide ? at::kDouble : at::kFloat)});
  }
  return pieces;
}

void expect_fair(const std::vector<std::int64_t>& counts, int ranks) {
  const std::vector<Piece> all = pieces_of(counts);
  std::size_t total = 0;
  for (const Piece& piece : all) total += piece.data.nbytes();
  std::map<std::string, std::int64_t> next;
  for (int rank = 0; rank < ranks; ++rank) {
    std::size_t bytes = 0;
    for (const Piece& piece : fair_part(all, rank, ranks)) {
      const auto [at, is_first] = next.emplace(piece.name, 5);
      EXPECT_EQ(piece.begin, at->second);
      for (std::int64_t i = 0; i < piece.data.numel(); ++i) {
        EXPECT_EQ(piece.data[i].item<double>(), static_cast<double>(at->second++));
      }
      bytes += piece.data.nbytes();
    }
    EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(total) / ranks, 8.0);
  }
  ASSERT_EQ(next.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(next[all[i].name], 5 + counts[i]) << ranks << " ranks";
  }
}

TEST(FairPart, CoversEverythingOnce) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    expect_fair({0, 1, 13, 997, 0, 8, 31}, ranks);
    expect_fair({1}, ranks);
    expect_fair({0, 0}, ranks);
    expect_fair({}, ranks);
  }
}

TEST(FairPart, SplitsTensorsOfAnyShapeAsFlat) {
  State state;
  state.add("w", torch::arange(35).view({5, 7}).t());
  const auto part = fair_part(state.pieces, 1, 2);
  ASSERT_EQ(part.size(), 1u);
  EXPECT_EQ(part[0].begin, 17);
  EXPECT_EQ(part[0].shard.sizes(), (std::vector<std::int64_t>{7, 5}));
  EXPECT_TRUE(at::equal(part[0].data, state.pieces[0].data.reshape({-1}).slice(0, 17)));
}

}  // namespace
}  // namespace trireme::checkpoint
