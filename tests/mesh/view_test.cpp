// Goal:   a view has the tensor's sizes and its own, and what cannot be a view is refused.
// Method: views of fused and plain tensors, of sizes 0 and 1.

#include "trireme/mesh/view.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::mesh {
namespace {

using Sizes = std::vector<std::int64_t>;

TEST(View, HasTheSizesOfTheTensorAndItsOwn) {
  const View qkv = View::split({{3, 4, 5}, {20}});
  EXPECT_EQ(qkv.tensor_sizes(), (Sizes{60, 20}));
  EXPECT_EQ(qkv.sizes(), (Sizes{3, 4, 5, 20}));
  EXPECT_EQ(qkv.count(), 1200);
  EXPECT_FALSE(qkv.is_plain());
  EXPECT_EQ(qkv.grouped({1, 2, 3, 4}), (std::vector<Sizes>{{1, 2, 3}, {4}}));
  const View plain(Sizes{60, 20});
  EXPECT_EQ(plain, View::split({{60}, {20}}));
  EXPECT_TRUE(plain.is_plain());
  EXPECT_NE(plain, qkv);
  EXPECT_NE(View::split({{2, 3}, {4}}), View::split({{2}, {3, 4}}));
}

TEST(View, OfEmptyTensorsAndScalars) {
  EXPECT_EQ(View().count(), 1);
  EXPECT_TRUE(View().is_plain());
  const View empty = View::split({{3, 0, 5}, {7}});
  EXPECT_EQ(empty.tensor_sizes(), (Sizes{0, 7}));
  EXPECT_EQ(empty.count(), 0);
}

TEST(View, RefusesWhatHasNoCount) {
  EXPECT_THROW(View::split({{}}), Error);
  EXPECT_THROW(View::split({{3, -1}}), Error);
  EXPECT_THROW(View::split({{INT64_MAX}, {2}}), Error);
  EXPECT_THROW(View(Sizes{0, INT64_MAX, 2}), Error);
}

}  // namespace
}  // namespace trireme::mesh
