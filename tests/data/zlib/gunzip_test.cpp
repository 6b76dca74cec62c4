// Goal:   gzip data are decompressed, with one member or several; anything else is rejected with
//         its name and the offset, and a decompression bomb does not fill the memory.
// Method: bytes written by gzip, stored here as constants; all prefixes and every byte flipped.

#include "trireme/data/zlib/gunzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/build_info.h"
#include "trireme/base/bytes.h"
#include "trireme/base/error.h"

namespace trireme::data::zlib {
namespace {

constexpr std::size_t kPlenty = 1 << 20;

// printf 'trireme trireme trireme' | gzip -n
std::string packed() {
  return std::string(
      text_of(from_hex("1f8b08000000000000032b29ca2c4acd4d552841a5019383a83817000000")));
}
constexpr std::string_view kPlain = "trireme trireme trireme";

bool has_zlib() {
  for (const base::BuildPart& part : base::build_info().parts) {
    if (part.name == "zlib") return part.is_on();
  }
  return false;
}

class Gunzip : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_zlib()) GTEST_SKIP() << "this build has no zlib";
  }
};

TEST_F(Gunzip, UnpacksOnePieceAndSeveral) {
  EXPECT_EQ(gunzip(packed(), "x.gz", kPlenty), kPlain);
  EXPECT_EQ(gunzip(packed() + packed(), "x.gz", kPlenty),
            std::string(kPlain) + std::string(kPlain));
}

TEST_F(Gunzip, RefusesEveryPrefix) {
  for (std::size_t size = 0; size < packed().size(); ++size) {
    try {
      gunzip(packed().substr(0, size), "x.gz", kPlenty);
      FAIL() << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt);
      EXPECT_EQ(error.message(), "x.gz: at byte " + std::to_string(size) +
                                     " of the packed file: the file ends too early");
    }
  }
}

TEST_F(Gunzip, NoFlippedByteGoesUnnoticed) {
  for (std::size_t at = 10; at < packed().size(); ++at) {
    std::string wrong = packed();
    wrong[at] ^= 0x10;
    EXPECT_THROW(gunzip(wrong, "x.gz", kPlenty), Error) << at;
  }
}

TEST_F(Gunzip, RefusesWhatFollowsAndWhatIsTooMuch) {
  EXPECT_THROW(gunzip(packed() + "more", "x.gz", kPlenty), Error);
  try {
    gunzip(packed(), "x.gz", 5);
    FAIL() << "too much was unpacked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Exhausted);
  }
  EXPECT_EQ(gunzip(packed(), "x.gz", kPlain.size()), kPlain);
}

TEST(GunzipStub, SaysWhatToInstall) {
  if (has_zlib()) GTEST_SKIP() << "this build has zlib";
  try {
    gunzip(packed(), "x.gz", kPlenty);
    FAIL() << "unpacked without zlib";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), ::testing::HasSubstr("zlib1g-dev"));
  }
}

}  // namespace
}  // namespace trireme::data::zlib
