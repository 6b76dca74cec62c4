// Goal:   the shards of all places cover a tensor once for each replica, whatever its sizes and
// view. Method: small tensors, every element counted; sizes 0, 1, prime, and smaller than the mesh.

#include "trireme/mesh/layout.h"

#include <gmock/gmock.h>

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

void expect_covers(const Layout& layout) {
  SCOPED_TRACE(layout.to_text());
  const std::int64_t count = layout.view().count();
  const ShardRange whole{.shard = Shard(layout.view().tensor_sizes()), .begin = 0, .count = count};
  std::vector<int> held(static_cast<std::size_t>(count)), saved(held);
  for (const auto& places : all_places(2, 3)) {
    const Shard shard = layout.shard(places);
    std::int64_t seen = 0;
    for_each_common({.shard = shard, .begin = 0, .count = shard.count()}, whole,
                    [&](const CommonRange& common) {
                      EXPECT_EQ(common.a, seen);
                      seen += common.count;
                      for (std::int64_t i = common.b; i < common.b + common.count; ++i) {
                        ++held.at(static_cast<std::size_t>(i));
                        saved[static_cast<std::size_t>(i)] +=
                            layout.is_first_holder(places) ? 1 : 0;
                      }
                    });
    EXPECT_EQ(seen, shard.count());
  }
  const int replicas = (layout.dim_of("data") ? 1 : 2) * (layout.dim_of("tensor") ? 1 : 3);
  EXPECT_THAT(held, ::testing::Each(replicas));
  EXPECT_THAT(saved, ::testing::Each(1));
}

TEST(Layout, ShardsCoverEveryElementOnceForEachReplica) {
  const std::vector<std::vector<Layout::Cut>> cuts{{},
                                                   {{"tensor", 0}},
                                                   {{"tensor", 1}},
                                                   {{"data", 0}, {"tensor", 2}},
                                                   {{"data", 1}, {"tensor", 1}},
                                                   {{"tensor", 1}, {"data", 1}}};
  const std::vector<View> views{View(Sizes{1, 1, 1}),          View(Sizes{7, 5, 3}),
                                View(Sizes{2, 13, 4}),         View(Sizes{3, 0, 2}),
                                View::split({{3, 2, 4}, {5}}), View::split({{3, 1}, {7}})};
  for (const View& view : views) {
    for (const auto& own : cuts) expect_covers(Layout(view, own));
  }
}

// A fused weight of queries, keys and values: each rank has its heads of all three.
TEST(Layout, FusedWeightsAreCutByHeads) {
  const Layout by_heads(View::split({{3, 4, 2}, {8}}), {{"tensor", 1}});
  const Shard second = by_heads.shard({{"tensor", 1, 2}});
  EXPECT_EQ(second.box(), (Box{{0, 2, 0, 0}, {3, 2, 2, 8}}));
  EXPECT_EQ(second.sizes(), (Sizes{12, 8}));
  std::vector<std::int64_t> rows;
  for_each_common({.shard = second, .begin = 0, .count = second.count()},
                  {.shard = Sizes{24, 8}, .begin = 0, .count = 24 * 8},
                  [&](const CommonRange& common) {
                    for (std::int64_t i = 0; i < common.count; i += 8) {
                      rows.push_back((common.b + i) / 8);
                    }
                  });
  EXPECT_EQ(rows, (Sizes{4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23}));
}

TEST(Layout, TheFirstAxisNamedCutsFirst) {
  const std::vector<Place> places{{"a", 1, 2}, {"b", 0, 2}};
  const View view(Sizes{8});
  EXPECT_EQ(Layout(view, {{"a", 0}, {"b", 0}}).shard(places).box(), (Box{{4}, {2}}));
  EXPECT_EQ(Layout(view, {{"b", 0}, {"a", 0}}).shard(places).box(), (Box{{2}, {2}}));
}

TEST(Layout, SaysWhatItIsAndRefusesWhatCannotBe) {
  const View view(Sizes{4, 6});
  EXPECT_EQ(Layout(view).to_text(), "replicated");
  EXPECT_EQ(Layout(view, {{"tensor", 1}, {"data", 0}}).to_text(),
            "dim 1 of (4, 6) over tensor, dim 0 of (4, 6) over data");
  EXPECT_THROW(Layout(view, {{"a", 0}, {"a", 1}}), Error);
  EXPECT_THROW(Layout(view, {{"a", 0}}).shard({{"b", 0, 2}}), Error);
  EXPECT_THROW(Layout(view, {{"a", 2}}), Error);
  EXPECT_THROW(Layout(view, {{"a", -1}}), Error);
}

}  // namespace
}  // namespace trireme::mesh
