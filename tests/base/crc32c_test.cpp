// Goal:   CRC32C as RFC 3720 prints it.
// Method: that RFC's test vectors, and the customary "123456789".

#include "trireme/base/crc32c.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0})), 0x8A9136AAu);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0xFF})), 0x62A8AB43u);
}

}  // namespace
}  // namespace trireme
