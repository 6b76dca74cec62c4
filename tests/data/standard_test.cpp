// Goal:   standardized columns are converted back to their original units.
// Method: a round trip of two columns of very different magnitudes.

#include "trireme/data/standard.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace trireme::data {
namespace {

TEST(Standard, GoesThereAndBackColumnByColumn) {
  Moments moments;
  for (const double value : {1e9 - 2, 1e9, 1e9 + 2}) moments.add(value);
  const std::vector<Standard> columns{Standard::of(moments), {.mean = 3, .deviation = 0.5}};
  EXPECT_NEAR(columns[0].apply(1e9 + 2), 1.2247448713915890, 1e-9);
  const at::Tensor units = at::tensor({1e9 + 1, 4.0, 1e9 - 1, 2.0}, at::kDouble).view({2, 2});
  const at::Tensor standard = standardized(units, columns).to(at::kFloat);
  EXPECT_TRUE(at::allclose(restored(standard, columns), units, 0, 1e-6));
  const at::Tensor difference = restored_difference(standard[0] - standard[1], columns);
  EXPECT_TRUE(at::allclose(difference, at::tensor({2.0, 2.0}, at::kDouble), 0, 1e-5));
  EXPECT_TRUE(restored(standard, {}).equal(standard));
  EXPECT_ANY_THROW(restored(standard, {Standard{}}));
}

TEST(Standard, OfAColumnThatNeverChangesHasDeviationOne) {
  Moments moments;
  for (int i = 0; i < 3; ++i) moments.add(0.1);
  EXPECT_EQ(Standard::of(moments), (Standard{.mean = 0.1, .deviation = 1}));
}

}  // namespace
}  // namespace trireme::data
