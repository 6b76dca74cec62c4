// Goal:   XXH64 equals the published function, however the message is split.
// Method: known digests of messages on both sides of each step of the algorithm; then every split
//         of one message in two.

#include "trireme/base/hash/xxh64.h"

#include <gtest/gtest.h>

#include <string>

namespace trireme {
namespace {

TEST(Xxh64, MatchesKnownDigests) {
  EXPECT_EQ(xxh64(bytes_of("")), 0xef46db3751d8e999ULL);
  EXPECT_EQ(xxh64(bytes_of("a")), 0xd24ec4f1a98c6e5bULL);
  EXPECT_EQ(xxh64(bytes_of("abc")), 0x44bc2cf5ad770999ULL);
  EXPECT_EQ(xxh64(bytes_of("Nobody inspects the spammish repetition")), 0xfbcea83c8a378bf1ULL);
}

TEST(Xxh64, EverySplitGivesTheSameDigest) {
  std::string message;
  for (int i = 0; i < 101; ++i) message.push_back(static_cast<char>(i * 37));
  const std::uint64_t whole = xxh64(bytes_of(message), 7);
  for (std::size_t cut = 0; cut <= message.size(); ++cut) {
    Xxh64 hash(7);
    hash.update(bytes_of(message).first(cut)).update(bytes_of(message).subspan(cut));
    EXPECT_EQ(hash.digest(), whole) << cut;
  }
  EXPECT_NE(xxh64(bytes_of(message), 8), whole);
}

}  // namespace
}  // namespace trireme
