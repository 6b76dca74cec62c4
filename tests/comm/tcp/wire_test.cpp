// Goal:   a checksum changes with every bit, and the header's checksum covers all fields before it.
// Method: flips each bit.

#include "trireme/comm/tcp/wire.h"

#include <gtest/gtest.h>

#include <set>

namespace trireme::comm::tcp {
namespace {

TEST(Wire, EveryBitOfTheHeaderChangesTheChecksum) {
  WireHeader header;
  header.group = 3;
  header.size = 100;
  const std::uint32_t whole = header_checksum(header);
  for (std::size_t bit = 0; bit < 8 * offsetof(WireHeader, header_check); ++bit) {
    WireHeader other = header;
    reinterpret_cast<unsigned char*>(&other)[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
    EXPECT_NE(header_checksum(other), whole) << "bit " << bit;
  }
}

TEST(Wire, LengthAndContentChangeTheChecksum) {
  std::set<std::uint32_t> seen;
  for (std::size_t size : {0, 1, 7, 8, 9, 4096}) {
    seen.insert(checksum(Bytes(size)));
    seen.insert(checksum(Bytes(size, std::byte{1})));
  }
  EXPECT_EQ(seen.size(), 11u) << "only the two empty payloads have the same checksum";
}

}  // namespace
}  // namespace trireme::comm::tcp
