// Goal:   SHA-256 and HMAC-SHA256 conform to the standards, however a message is split.
// Method: known answers of FIPS 180-4 (with its million 'a'), NIST's short messages around the
//         padding boundary, and RFC 4231; every split of a message that spans three blocks.

#include "trireme/base/hash/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace trireme {
namespace {

std::string sha256_hex(std::string_view text) {
  return to_hex(sha256(bytes_of(text)));
}

TEST(Sha256, MatchesTheStandard) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                       "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST(Sha256, MatchesTheStandardForAMillionBytes) {
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// NIST's additional vectors: zero bytes around the size at which the padding needs a second block.
TEST(Sha256, MatchesNistAroundThePaddingBoundary) {
  const auto zeros = [](std::size_t size) { return sha256_hex(std::string(size, '\0')); };
  EXPECT_EQ(zeros(55), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  EXPECT_EQ(zeros(56), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
  EXPECT_EQ(zeros(57), "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
  EXPECT_EQ(zeros(64), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
  EXPECT_EQ(zeros(1000), "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53");
}

TEST(Sha256, EverySplitGivesTheSameDigest) {
  std::string message;
  for (int i = 0; i < 131; ++i) message += static_cast<char>('0' + i % 75);
  const Sha256Digest whole = sha256(bytes_of(message));
  for (std::size_t first = 0; first <= message.size(); ++first) {
    for (std::size_t second = first; second <= message.size(); second += 7) {
      Sha256 hash;
      hash.update(bytes_of(message).first(first));
      hash.update(bytes_of(message).subspan(first, second - first));
      ASSERT_EQ(hash.update(bytes_of(message).subspan(second)).digest(), whole)
          << first << " " << second;
    }
  }
}

struct HmacCase {
  std::string key;
  std::string data;
  std::string hex;
};

class Hmac : public ::testing::TestWithParam<HmacCase> {};

TEST_P(Hmac, MatchesRfc4231) {
  const HmacCase& c = GetParam();
  // The fifth case of the RFC gives only the first 128 bits.
  const std::string got = to_hex(hmac_sha256(bytes_of(c.key), bytes_of(c.data)));
  EXPECT_EQ(got.substr(0, c.hex.size()), c.hex);
}

std::string counted(int count) {
  std::string out;
  for (int i = 1; i <= count; ++i) out += static_cast<char>(i);
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    Rfc4231, Hmac,
    ::testing::Values(
        HmacCase{std::string(20, '\x0b'), "Hi There",
                 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        HmacCase{"Jefe", "what do ya want for nothing?",
                 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        HmacCase{std::string(20, '\xaa'), std::string(50, '\xdd'),
                 "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
        HmacCase{counted(25), std::string(50, '\xcd'),
                 "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
        HmacCase{std::string(20, '\x0c'), "Test With Truncation",
                 "a3b6167473100ee06e0c796c2955552b"},
        HmacCase{std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
                 "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
        HmacCase{std::string(131, '\xaa'),
                 "This is a test using a larger than block-size key and a larger than block-size "
                 "data. The key needs to be hashed before being used by the HMAC algorithm.",
                 "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"}));

TEST(Hmac, KeysUpToTheBlockSizeAreUsedUnchanged) {
  // A key of 64 bytes is used unchanged, one of 65 is hashed: the results must differ.
  const std::string key(64, 'k');
  EXPECT_NE(hmac_sha256(bytes_of(key), bytes_of("m")),
            hmac_sha256(bytes_of(key + 'k'), bytes_of("m")));
  // Shorter keys are padded with zeros by definition.
  EXPECT_EQ(hmac_sha256(bytes_of("k"), bytes_of("m")),
            hmac_sha256(bytes_of("k" + std::string(63, '\0')), bytes_of("m")));
}

TEST(Hmac, AcceptsAnEmptyKeyAndAnEmptyMessage) {
  EXPECT_EQ(to_hex(hmac_sha256({}, {})),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
  hmac_sha256(bytes_of("a key of an earlier message"), bytes_of("m"));
  EXPECT_EQ(hmac_sha256({}, bytes_of("m")), hmac_sha256(Bytes(64), bytes_of("m")));
}

TEST(EqualInConstantTime, SeesEveryBit) {
  EXPECT_TRUE(equal_in_constant_time({}, {}));
  const Bytes a = to_bytes("0123456789abcdef0123456789abcdef");
  EXPECT_TRUE(equal_in_constant_time(a, Bytes(a)));
  EXPECT_FALSE(equal_in_constant_time(a, ByteView(a).first(31)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes b = a;
      b[i] ^= std::byte{1} << bit;
      ASSERT_FALSE(equal_in_constant_time(a, b)) << i << " " << bit;
    }
  }
}

}  // namespace
}  // namespace trireme
