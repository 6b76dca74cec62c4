// Goal:   CRC32C conforms to RFC 3720.
// Method: the test vectors of the RFC, and the customary "123456789".

#include "trireme/base/hash/crc32c.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Crc32c, MatchesKnownValues) {
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0})), 0x8A9136AAu);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0xFF})), 0x62A8AB43u);
}

}  // namespace
}  // namespace trireme
