// Goal:   one end of a connection reads the preface that the other end wrote; other bytes are
//         rejected.
// Method: a round trip, and every shorter and longer text.

#include "trireme/comm/tcp/preface.h"

#include <gtest/gtest.h>

namespace trireme::comm::tcp {
namespace {

TEST(Preface, IsReadAsItWasWritten) {
  const Preface said{.epoch = 1ull << 40, .mesh = 3, .worker = 17, .rank = 2, .stream = 1};
  const std::string bytes = said.to_bytes();
  EXPECT_LE(bytes.size(), 64u) << "more does not fit into a handshake";
  EXPECT_EQ(Preface::from_bytes(bytes), said);
  EXPECT_EQ(said.to_text(), "worker 17 as rank 2 of epoch 1099511627776");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Preface::from_bytes(std::string_view(bytes).substr(0, size)), std::nullopt);
  }
  EXPECT_EQ(Preface::from_bytes(bytes + "x"), std::nullopt);
  std::string other = bytes;
  other[0] ^= 1;
  EXPECT_EQ(Preface::from_bytes(other), std::nullopt);
}

}  // namespace
}  // namespace trireme::comm::tcp
