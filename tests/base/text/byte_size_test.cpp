// Goal:   literals count bytes in powers of 1024, and sizes compare by their count.
// Method: known values, most of them checked at compile time.

#include "trireme/base/text/byte_size.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

static_assert((7_B).count == 7);
static_assert((1_KiB).count == 1024);
static_assert((3_MiB).count == 3 * 1024 * 1024);
static_assert(1_GiB == 1024_MiB);
static_assert(1_TiB == 1024_GiB);

TEST(ByteSize, ComparesByItsCount) {
  EXPECT_LT(1023_B, 1_KiB);
  EXPECT_EQ(ByteSize{}, 0_B);
  EXPECT_GE(2_MiB, 2048_KiB);
}

}  // namespace
}  // namespace trireme
