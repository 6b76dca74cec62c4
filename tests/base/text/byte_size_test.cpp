// Goal:   sizes compare by their count.
// Method: a few values.

#include "trireme/base/text/byte_size.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(ByteSize, ComparesByItsCount) {
  EXPECT_LT(ByteSize{1023}, ByteSize{1024});
  EXPECT_EQ(ByteSize{}, ByteSize{0});
  EXPECT_GE(ByteSize{2048}, ByteSize{2048});
}

}  // namespace
}  // namespace trireme
