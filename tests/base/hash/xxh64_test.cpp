// Goal:   XXH64 equals the published function, so that checksums in existing checkpoints stay
// valid. Method: known digests, and a chain of digests over every size up to several stripes, whose
// last
//         one was computed by an independent implementation.

#include "trireme/base/hash/xxh64.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Xxh64, MatchesKnownDigests) {
  EXPECT_EQ(xxh64(bytes_of("")), 0xef46db3751d8e999ULL);
  EXPECT_EQ(xxh64(bytes_of("a")), 0xd24ec4f1a98c6e5bULL);
  EXPECT_EQ(xxh64(bytes_of("abc")), 0x44bc2cf5ad770999ULL);
  EXPECT_EQ(xxh64(bytes_of("Nobody inspects the spammish repetition")), 0xfbcea83c8a378bf1ULL);
}

TEST(Xxh64, EverySizeMatchesTheReference) {
  Bytes message;
  std::uint64_t digest = 0;
  for (int size = 0; size <= 300; ++size) {
    digest = xxh64(message, digest);  // the digest of one size is the seed of the next
    message.push_back(static_cast<std::byte>(size * 37));
  }
  EXPECT_EQ(digest, 0x3b9b529f922ac7d4ULL);
}

}  // namespace
}  // namespace trireme
