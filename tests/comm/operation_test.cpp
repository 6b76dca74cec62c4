// Goal:   an operation has a name for error messages and knows the share of each member.
// Method: names with and without a label; even and uneven counts.

#include "trireme/comm/operation.h"

#include <gtest/gtest.h>

namespace trireme::comm {
namespace {

TEST(Operation, NameContainsKindNumberAndLabel) {
  Operation op;
  op.request.kind = OpKind::AllReduce;
  op.sequence = 1842;
  EXPECT_EQ(op.name(), "all_reduce #1842");
  op.label = "bucket 2";
  EXPECT_EQ(op.name(), "all_reduce #1842 (bucket 2)");
}

TEST(Operation, SharesAreEqualWithoutCounts) {
  Operation op;
  op.request.type = DType::Int64;
  op.request.count = 5;
  EXPECT_EQ(op.count_of(0), 5u);
  EXPECT_EQ(op.count_of(3), 5u);
  op.counts = {1, 0, 4};
  EXPECT_EQ(op.count_of(0), 1u);
  EXPECT_EQ(op.count_of(1), 0u);
  EXPECT_EQ(op.count_of(2), 4u);
  EXPECT_EQ(op.element_size(), 8u);
  EXPECT_TRUE(op.deadline.is_never());
}

}  // namespace
}  // namespace trireme::comm
