// Goal:   the elements that two ranges of shards share are found exactly, in ascending order,
//         whatever their views, boxes and ranges.
// Method: random views of one tensor, random boxes and ranges, compared with the sets of elements;
//         sizes 0, 1 and primes.

#include "trireme/mesh/shard.h"

#include <gtest/gtest.h>

#include <map>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::mesh {
namespace {

using Sizes = std::vector<std::int64_t>;

// For each element of the range: its index in the tensor, and in the shard.
std::map<std::int64_t, std::int64_t> elements_of(const ShardRange& range) {
  const Sizes& view = range.shard.view().sizes();
  const Box& box = range.shard.box();
  std::map<std::int64_t, std::int64_t> all;
  for (std::int64_t i = range.begin; i < range.begin + range.count; ++i) {
    std::int64_t rest = i, stride = 1, at = 0;
    for (std::size_t d = view.size(); d > 0; --d) {
      at += (box.begin[d - 1] + rest % box.sizes[d - 1]) * stride;
      rest /= box.sizes[d - 1];
      stride *= view[d - 1];
    }
    all.emplace(at, i);
  }
  return all;
}

ShardRange random_range(const View& view, Random& random) {
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(end)));
  };
  Box box = Box::whole(view.sizes());
  for (std::size_t d = 0; d < box.sizes.size(); ++d) {
    if (random.below(2) == 0) continue;
    box.begin[d] = below(box.sizes[d] / 2 + 1);
    box.sizes[d] = below(box.sizes[d] - box.begin[d] + 1);
  }
  const Shard shard(view, box);
  const std::int64_t begin = below(shard.count() / 2 + 1);
  return {.shard = shard, .begin = begin, .count = below(shard.count() - begin + 1)};
}

TEST(Shard, CommonElementsAreFoundOnceAndInOrder) {
  const std::vector<std::vector<View>> tensors{
      {View(Sizes{24, 7}), View::split({{3, 4, 2}, {7}}), View::split({{3, 8}, {7}}),
       View::split({{2, 12}, {7, 1}})},
      {View(Sizes{5, 1, 6}), View::split({{5}, {1, 1}, {2, 3}})},
      {View(Sizes{1}), View::split({{1, 1}})},
      {View(Sizes{13}), View::split({{13, 1}})},
      {View()},
      {View(Sizes{0, 4}), View::split({{2, 0}, {2, 2}})}};
  Random random(11);
  std::size_t shared = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto& views = tensors[static_cast<std::size_t>(random.below(tensors.size()))];
    const ShardRange a = random_range(views[random.below(views.size())], random);
    const ShardRange b = random_range(views[random.below(views.size())], random);
    const auto of_a = elements_of(a), of_b = elements_of(b);
    std::map<std::int64_t, std::int64_t> expected;
    for (const auto& [at, index] : of_a) {
      if (of_b.contains(at)) expected.emplace(index, of_b.at(at));
    }
    std::map<std::int64_t, std::int64_t> found;
    std::int64_t last = -1;
    for_each_common(a, b, [&](const CommonRange& common) {
      EXPECT_GT(common.count, 0);
      EXPECT_GT(common.a, last);
      for (std::int64_t i = 0; i < common.count; ++i) found[common.a + i] = common.b + i;
      last = common.a + common.count - 1;
    });
    ASSERT_EQ(found, expected) << round;
    shared += found.size();
  }
  EXPECT_GT(shared, 2500u);
}

// Two of 2^20 by 2^20 elements: one range for each contiguous run, and nothing for other elements.
TEST(Shard, TheTimeDependsOnRunsAndNotOnElements) {
  constexpr std::int64_t kSide = std::int64_t{1} << 20;
  const View view(Sizes{kSide, kSide});
  const Shard left(view, {{0, 0}, {kSide, kSide / 2}}), rows(view, {{7, 0}, {100, kSide}});
  std::vector<CommonRange> found;
  for_each_common({.shard = left, .begin = 0, .count = left.count()},
                  {.shard = rows, .begin = 0, .count = rows.count()},
                  [&](const CommonRange& common) { found.push_back(common); });
  ASSERT_EQ(found.size(), 100u);
  EXPECT_EQ(found[1].a, 8 * (kSide / 2));
  EXPECT_EQ(found[1].b, kSide);
  EXPECT_EQ(found[1].count, kSide / 2);
}

TEST(Shard, HasTheShapeOfItsTensor) {
  const Shard heads(View::split({{3, 12, 64}, {768}}), {{0, 6, 0, 0}, {3, 6, 64, 768}});
  EXPECT_EQ(heads.sizes(), (Sizes{1152, 768}));
  EXPECT_EQ(heads.count(), 1152 * 768);
  EXPECT_FALSE(heads.is_whole());
  const Shard whole = Sizes{2, 5};
  EXPECT_TRUE(whole.is_whole());
  EXPECT_EQ(whole.sizes(), (Sizes{2, 5}));
  EXPECT_TRUE(Shard().is_whole());
  EXPECT_EQ(Shard().count(), 1);
  EXPECT_THROW(Shard(View(Sizes{2, 5}), {{0, 3}, {2, 3}}), Error);
  EXPECT_THROW(Shard(View(Sizes{2, 5}), {{0}, {2}}), Error);
}

}  // namespace
}  // namespace trireme::mesh
