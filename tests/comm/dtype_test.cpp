// Goal:   every element type and reduction has its own name and the correct size, and exactly two
//         types are 16-bit floats.
// Method: iterates over the enumerations; compares names pairwise, and sizes with those of C++
//         types.

#include "trireme/comm/dtype.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace trireme::comm {
namespace {

TEST(DType, SizesMatchTheCppTypes) {
  EXPECT_EQ(size_of(DType::Float64), sizeof(double));
  EXPECT_EQ(size_of(DType::Float32), sizeof(float));
  EXPECT_EQ(size_of(DType::Float16), 2u);
  EXPECT_EQ(size_of(DType::BFloat16), 2u);
  EXPECT_EQ(size_of(DType::Int64), sizeof(std::int64_t));
  EXPECT_EQ(size_of(DType::Int32), sizeof(std::int32_t));
  EXPECT_EQ(size_of(DType::Int8), 1u);
  EXPECT_EQ(size_of(DType::UInt8), 1u);
}

TEST(DType, EveryTypeHasItsOwnName) {
  std::set<std::string> names;
  for (int i = 0; i < kDTypeCount; ++i) names.emplace(name_of(static_cast<DType>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kDTypeCount));
  EXPECT_EQ(names.count("?"), 0u);
  EXPECT_EQ(name_of(static_cast<DType>(kDTypeCount)), "?");
  EXPECT_EQ(size_of(static_cast<DType>(kDTypeCount)), 0u);
}

TEST(DType, OnlyThe16BitFloatsAreHalf) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    EXPECT_EQ(is_half(type), size_of(type) == 2) << name_of(type);
  }
}

TEST(DType, ReductionsHaveNames) {
  std::set<std::string> names;
  for (int i = 0; i < kReduceOpCount; ++i) names.emplace(name_of(static_cast<ReduceOp>(i)));
  EXPECT_EQ(names, (std::set<std::string>{"sum", "mean", "min", "max", "product"}));
  EXPECT_EQ(name_of(static_cast<ReduceOp>(kReduceOpCount)), "?");
}

}  // namespace
}  // namespace trireme::comm
