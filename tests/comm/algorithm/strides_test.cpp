// Goal:   long arithmetic and copies give the same results as without strides, and yield in
//         between.
// Method: tasks are stepped manually and their steps counted, at and around the size of a stride.

#include "trireme/comm/algorithm/strides.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace trireme::comm {
namespace {

int steps_of(Task task) {
  int steps = 1;
  while (task.step() != Task::Step::Done) ++steps;
  return steps;
}

TEST(Strides, ATaskYieldsBetweenTwoStrides) {
  const auto steps = [](std::size_t count) {
    return steps_of(in_strides(count, 2, [](std::size_t, std::size_t) {}));
  };
  const std::size_t stride = kStrideSize / 2;
  EXPECT_EQ(steps(0), 1);
  EXPECT_EQ(steps(1), 1);
  EXPECT_EQ(steps(stride), 1);
  EXPECT_EQ(steps(stride + 1), 2);
  EXPECT_EQ(steps(7 * stride), 7);
}

TEST(Strides, CoverEveryElementOnce) {
  std::vector<int> seen(3 * kStrideSize / sizeof(int) + 17);
  steps_of(in_strides(seen.size(), sizeof(int), [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) ++seen[i];
  }));
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(seen.size()));
}

TEST(Strides, CombineAndCopyGiveTheSameResultAsOneCall) {
  std::vector<std::int32_t> a(2 * kStrideSize / sizeof(std::int32_t) + 5), b(a.size()), c(a.size());
  std::iota(a.begin(), a.end(), 0);
  std::iota(b.begin(), b.end(), 1000);
  auto* const bytes = reinterpret_cast<std::byte*>(a.data());
  const auto* const others = reinterpret_cast<const std::byte*>(b.data());
  EXPECT_EQ(steps_of(combine_in_strides({DType::Int32, ReduceOp::Sum, 1}, bytes, others, bytes,
                                        a.size())),
            3);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i], static_cast<std::int32_t>(2 * i + 1000));
  }
  const std::size_t size = a.size() * sizeof(a[0]);
  EXPECT_EQ(steps_of(copy_in_strides(reinterpret_cast<std::byte*>(c.data()), bytes, size)), 3);
  EXPECT_EQ(c, a);
  std::vector<std::int32_t> expected = a;
  std::copy(a.begin(), a.end() - 1, expected.begin() + 1);
  steps_of(copy_in_strides(bytes + sizeof(a[0]), bytes, size - sizeof(a[0])));
  EXPECT_EQ(a, expected) << "overlapping, forwards";
}

}  // namespace
}  // namespace trireme::comm
