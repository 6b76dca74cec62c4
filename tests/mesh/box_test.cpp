// Goal:   boxes intersect as sets of elements do, and a set of boxes is a cover if and only if
// every
//         element is in exactly one of them.
// Method: random grids cut along planes, nested and with uneven parts, compared with a count of
// each
//         element; then each cover with one box moved, grown, doubled or left out.

#include "trireme/mesh/box.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::mesh {
namespace {

using Sizes = std::vector<std::int64_t>;
using ::testing::HasSubstr;

bool contains(const Box& box, const Sizes& at) {
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d] < box.begin[d] || at[d] >= box.end(d)) return false;
  }
  return true;
}

bool is_covered_once(const Sizes& sizes, const std::vector<Box>& boxes) {
  Sizes at(sizes.size());
  for (std::int64_t i = 0; i < count_of(sizes); ++i) {
    std::int64_t rest = i;
    for (std::size_t d = sizes.size(); d > 0; --d) {
      at[d - 1] = rest % sizes[d - 1];
      rest /= sizes[d - 1];
    }
    if (std::ranges::count_if(boxes, [&](const Box& box) { return contains(box, at); }) != 1) {
      return false;
    }
  }
  return true;
}

// Cuts the box into up to `count` boxes along random planes.
void cut(const Box& box, int count, Random& random, std::vector<Box>& into) {
  const auto dim = static_cast<std::size_t>(random.below(box.sizes.size()));
  if (count == 1 || box.sizes[dim] == 1) {
    into.push_back(box);
    return;
  }
  Box first = box, second = box;
  first.sizes[dim] =
      1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(box.sizes[dim] - 1)));
  second.begin[dim] += first.sizes[dim];
  second.sizes[dim] -= first.sizes[dim];
  cut(first, count / 2, random, into);
  cut(second, count - count / 2, random, into);
}

void damage(Box& box, const Sizes& sizes, Random& random) {
  const auto dim = static_cast<std::size_t>(random.below(sizes.size()));
  if (box.begin[dim] > 0) {
    --box.begin[dim];
    box.sizes[dim] += static_cast<std::int64_t>(random.below(2));
  } else if (box.end(dim) < sizes[dim]) {
    ++box.sizes[dim];
  } else if (box.sizes[dim] > 1) {
    --box.sizes[dim];
  }
}

TEST(Box, IntersectsAsSetsDo) {
  const Box a{{0, 2}, {3, 4}}, b{{2, 0}, {5, 3}}, far{{3, 0}, {1, 9}};
  EXPECT_EQ(intersection(a, b), (Box{{2, 2}, {1, 1}}));
  EXPECT_EQ(intersection(a, a), a);
  EXPECT_EQ(intersection(a, far).count(), 0);
  EXPECT_EQ(intersection(Box{}, Box{}).count(), 1);
  EXPECT_EQ(a.to_text(), "(0, 2) to (3, 6)");
  EXPECT_TRUE(a.is_within({3, 6}));
  EXPECT_FALSE(a.is_within({3, 5}));
  EXPECT_FALSE(a.is_within({3, 6, 1}));
  EXPECT_FALSE((Box{{-1}, {1}}).is_within({3}));
  EXPECT_FALSE((Box{{1}, {INT64_MAX}}).is_within({3}));
}

TEST(Box, CountsOnlyWhatFits) {
  EXPECT_EQ(count_of({}), 1);
  EXPECT_EQ(count_of({3, 0, 5}), 0);
  EXPECT_EQ(count_of({1, 7, 11}), 77);
  EXPECT_THROW(count_of({-1}), Error);
  EXPECT_THROW(count_of({INT64_MAX, 0, 2}), Error);
}

TEST(Box, CoversAreTold) {
  Random random(7);
  int whole = 0, broken = 0;
  for (int round = 0; round < 300; ++round) {
    Sizes sizes(1 + random.below(4));
    for (std::int64_t& size : sizes) size = 1 + static_cast<std::int64_t>(random.below(7));
    std::vector<Box> boxes;
    cut(Box::whole(sizes), 1 + static_cast<int>(random.below(9)), random, boxes);
    EXPECT_EQ(fault_in_cover(sizes, boxes), "") << text_of(sizes);
    ++whole;
    Box& victim = boxes[static_cast<std::size_t>(random.below(boxes.size()))];
    switch (random.below(3)) {
      case 0:
        damage(victim, sizes, random);
        break;
      case 1:
        boxes.push_back(Box(victim));
        break;
      default:
        std::swap(victim, boxes.back());
        boxes.pop_back();
    }
    const bool is_cover = is_covered_once(sizes, boxes);
    EXPECT_EQ(fault_in_cover(sizes, boxes).empty(), is_cover) << text_of(sizes);
    broken += is_cover ? 0 : 1;
  }
  EXPECT_GT(broken, whole / 2);
}

TEST(Box, FaultsAreNamed) {
  EXPECT_EQ(fault_in_cover({0, 3}, {}), "");
  EXPECT_EQ(fault_in_cover({2, 3}, {}), "no box covers (0, 0) to (2, 3)");
  const std::vector<Box> gap{{{0, 0}, {2, 1}}, {{0, 2}, {2, 1}}};
  EXPECT_EQ(fault_in_cover({2, 3}, gap), "no box covers (0, 1) to (2, 2)");
  const std::vector<Box> twice{{{0, 0}, {2, 2}}, {{0, 1}, {2, 2}}};
  EXPECT_THAT(fault_in_cover({2, 3}, twice), HasSubstr("(0, 0) to (2, 2) and (0, 1) to (2, 3)"));
  EXPECT_EQ(fault_in_cover({}, std::vector<Box>{Box{}}), "");
  EXPECT_NE(fault_in_cover({}, std::vector<Box>{Box{}, Box{}}), "");
}

// 65,536 boxes: comparing every two of them would take minutes.
TEST(Box, ManyBoxesAreCheckedQuickly) {
  constexpr std::int64_t kSide = 256;
  std::vector<Box> boxes;
  for (std::int64_t i = 0; i < kSide * kSide; ++i) {
    boxes.push_back({{i * 97 % kSide, i / kSide, 0}, {1, 1, 5}});
  }
  EXPECT_EQ(fault_in_cover({kSide, kSide, 5}, boxes), "");
  boxes.back() = boxes.front();
  EXPECT_NE(fault_in_cover({kSide, kSide, 5}, boxes), "");
}

}  // namespace
}  // namespace trireme::mesh
