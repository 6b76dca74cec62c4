// Goal:   bytes survive a round trip through base64, and any other text is refused.
// Method: the vectors of RFC 4648, every length up to a prime, and malformed texts.

#include "trireme/base/text/base64.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme {
namespace {

TEST(Base64, MatchesTheStandard) {
  const char* vectors[][2] = {{"", ""},
                              {"f", "Zg=="},
                              {"fo", "Zm8="},
                              {"foo", "Zm9v"},
                              {"foob", "Zm9vYg=="},
                              {"fooba", "Zm9vYmE="},
                              {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : vectors) {
    EXPECT_EQ(to_base64(bytes_of(plain)), coded);
    EXPECT_EQ(from_base64(coded), to_bytes(plain));
  }
}

TEST(Base64, AnyBytesAreDecodedAsTheyWereEncoded) {
  Bytes bytes;
  for (int size = 0; size <= 257; ++size) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes.push_back(static_cast<std::byte>(size * 37));
  }
}

TEST(Base64, RefusesInvalidText) {
  for (const char* text : {"A", "AAA", "Zg=A", "====", "Z===", "Zh==", "Zm9=", "Zm 9", "Zg==Zg==",
                           "Zg==\n", " Zg==", "Zm9v\n\n\n\n", "    Zm9v", "Zm9v----", "Zm9\xff"}) {
    EXPECT_THROW(from_base64(text), Error) << text;
  }
}

}  // namespace
}  // namespace trireme
