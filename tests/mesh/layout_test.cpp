// Goal:   the blocks of all places cover a tensor once for each replica, whatever its sizes, and
// the
//         stretches of a block are its elements.
// Method: small tensors, every element counted; sizes 0, 1, prime, and smaller than the mesh.

#include "trireme/mesh/layout.h"

#include <gmock/gmock.h>

#include <numeric>

#include "trireme/base/error.h"

namespace trireme::mesh {
namespace {

using Sizes = std::vector<std::int64_t>;

std::vector<std::vector<Place>> all_places(int data, int tensor) {
  std::vector<std::vector<Place>> all;
  for (int d = 0; d < data; ++d) {
    for (int t = 0; t < tensor; ++t) all.push_back({{"data", d, data}, {"tensor", t, tensor}});
  }
  return all;
}

TEST(Layout, BlocksCoverEveryElementOnceForEachReplica) {
  const std::vector<Layout> layouts{Layout(),
                                    Layout({{"tensor", 0}}),
                                    Layout({{"tensor", 1}}),
                                    Layout({{"data", 0}, {"tensor", 2}}),
                                    Layout({{"data", 1}, {"tensor", 1}}),
                                    Layout({{"tensor", 1}, {"data", 1}})};
  for (const Sizes& sizes : {Sizes{1, 1, 1}, Sizes{7, 5, 3}, Sizes{2, 13, 4}, Sizes{3, 0, 2}}) {
    for (const Layout& layout : layouts) {
      SCOPED_TRACE(layout.to_text());
      const std::int64_t count =
          std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
      std::vector<int> held(static_cast<std::size_t>(count)), saved(held);
      for (const auto& places : all_places(2, 3)) {
        const Block block = layout.block(places, sizes);
        std::int64_t seen = 0;
        for (const Stretch& one : stretches_of(block, sizes)) {
          seen += one.count;
          for (std::int64_t i = one.begin; i < one.begin + one.count; ++i) {
            ++held.at(static_cast<std::size_t>(i));
            saved[static_cast<std::size_t>(i)] += layout.is_first_holder(places) ? 1 : 0;
          }
        }
        EXPECT_EQ(seen, block.count());
      }
      const int replicas = (layout.dim_of("data") ? 1 : 2) * (layout.dim_of("tensor") ? 1 : 3);
      EXPECT_THAT(held, ::testing::Each(replicas));
      EXPECT_THAT(saved, ::testing::Each(1));
    }
  }
}

TEST(Layout, RunsAreAsLongAsTheyCanBe) {
  const Layout rows({{"tensor", 0}}), columns({{"tensor", 1}});
  const std::vector<Place> second{{"tensor", 1, 2}};
  EXPECT_EQ(stretches_of(rows.block(second, {4, 6}), {4, 6}), (std::vector<Stretch>{{12, 12}}));
  EXPECT_EQ(stretches_of(columns.block(second, {3, 6}), {3, 6}),
            (std::vector<Stretch>{{3, 3}, {9, 3}, {15, 3}}));
  EXPECT_EQ(stretches_of(Layout().block(second, {}), {}), (std::vector<Stretch>{{0, 1}}));
}

TEST(Layout, TheFirstAxisNamedCutsFirst) {
  const std::vector<Place> places{{"a", 1, 2}, {"b", 0, 2}};
  EXPECT_EQ(Layout({{"a", 0}, {"b", 0}}).block(places, {8}), (Block{{4}, {2}}));
  EXPECT_EQ(Layout({{"b", 0}, {"a", 0}}).block(places, {8}), (Block{{2}, {2}}));
}

TEST(Layout, SaysWhatItIsAndRefusesWhatCannotBe) {
  EXPECT_EQ(Layout().to_text(), "replicated");
  EXPECT_EQ(Layout({{"tensor", 1}, {"data", 0}}).to_text(), "dim 1 over tensor, dim 0 over data");
  EXPECT_THROW(Layout({{"a", 0}, {"a", 1}}), Error);
  EXPECT_THROW(Layout({{"a", 0}}).block({{"b", 0, 2}}, {4}), Error);
  EXPECT_THROW(Layout({{"a", 1}}).block({{"a", 0, 2}}, {4}), Error);
}

}  // namespace
}  // namespace trireme::mesh
