// Goal:   images of other programs are decoded as those programs decode them.
// Method: files written by Pillow 13.0, with the values it reads from them: JPEG with half-size
//         colours or CMYK, PNG with a transparent pixel, a palette, and 16 bits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/build_info.h"
#include "trireme/data/jpeg/jpeg.h"
#include "trireme/data/png/png.h"

namespace trireme::data::image {
namespace {

using ::testing::ElementsAre;

constexpr const char* kJpeg =
    "ffd8ffe000104a46494600010100000100010000ffdb0043000d090a0b0a080d0b0a0b0e0e0d0f1320151312"
    "1213271c1e17202e2931302e292d2c333a4a3e333646372c2d405741464c4e525352323e5a615a50604a5152"
    "4fffdb0043010e0e0e131113261515264f352d354f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f"
    "4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4fffc0001108000a000c030122000211010311"
    "01ffc40014000100000000000000000000000000000005ffc4001d1000010402030000000000000000000000"
    "01000421220205031231ffc4001501010100000000000000000000000000000102ffc4001811000301010000"
    "000000000000000000000003051204ffda000c03010002110311003f0029b6afcaa4b8f5951548b6022024b0"
    "03a8809a145ba2e5763307ffd9";
// Every third row and every fourth column of its 10 by 12 pixels.
constexpr int kSome[] = {20,  14,  224, 81,  17,  202, 162, 16,  163, 31,  66,  218,
                         91,  70,  199, 171, 67,  156, 27,  132, 187, 86,  135, 167,
                         165, 130, 124, 33,  179, 176, 92,  182, 154, 172, 181, 114};

// CMYK, 8 by 8. If the byte of Adobe's transform is 2, the first three channels are interpreted as
// luminance and chrominance (YCCK).
constexpr const char* kInks =
    "ffd8ffee000e41646f626500640000000000ffdb004300020101010101020101010202020202040302020202"
    "0504040304060506060605060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090a0a0aff"
    "c000140800080008044311004d11005911004b1100ffc4001f00000105010101010101000000000000000001"
    "02030405060708090a0bffc400b5100002010303020403050504040000017d01020300041105122131410613"
    "516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a"
    "434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495"
    "969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3"
    "e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9faffda000e0443004d0059004b00003f00f6cff82b6ffcc4ff00e075"
    "cbff00c3adff00ea5dff00c855f4a57e867c5bf8b7feb7fd2bd7bd7fffd9";
constexpr std::size_t kTransformAt = 17;  // offset in bytes
// Rows 0, 3 and 7, columns 0, 4 and 7.
constexpr int kOfInks[] = {203, 50, 149, 119, 45,  136, 65,  42, 126, 190, 92, 139, 110, 83,
                           126, 60, 77,  116, 172, 138, 126, 99, 124, 113, 53, 114, 104};
constexpr int kOfYcck[] = {0,   28, 143, 49,  92, 198, 90, 131, 195, 0,  42, 54,  45, 100,
                           111, 83, 134, 144, 0,  57,  0,  40,  107, 12, 74, 135, 48};
constexpr const char* kPalette =
    "89504e470d0a1a0a0000000d4948445200000003000000010203000000668efc2700000009504c5445c86432"
    "0000ff0a141eec123bbb0000000a49444154789c63f00000004a0049a1e9c7970000000049454e44ae426082";
constexpr const char* kGreyAndAlpha =
    "89504e470d0a1a0a0000000d49484452000000020000000108040000005e2bb7010000000d49444154789c63"
    "3cf19f811100062801ca9075af960000000049454e44ae426082";

constexpr const char* kTransparent =
    "89504e470d0a1a0a0000000d4948445200000002000000010806000000f4227f8a000000114944415478da63"
    "3c9162f49f81818111000f3602604a1a7e4a0000000049454e44ae426082";
constexpr const char* kSixteenBits =
    "89504e470d0a1a0a0000000d49484452000000030000000110000000006e1b972b0000000f4944415478da63"
    "60606860f8ff1f000504027f5afbf7a70000000049454e44ae426082";

bool has_part(const char* name) {
  for (const base::BuildPart& part : base::build_info().parts) {
    if (part.name == name) return part.is_on();
  }
  return false;
}

TEST(PicturesOfPillow, AreJpegFiles) {
  if (!has_part("jpeg")) GTEST_SKIP() << "NOT TESTED: no libjpeg";
  Pixels read;
  jpeg::decode(from_hex(kJpeg), 10, 12, false, read);
  ASSERT_EQ(read.bytes.size(), std::size_t{10 * 12 * 3});
  std::size_t at = 0;
  for (std::size_t row = 0; row < 10; row += 3) {
    for (std::size_t column = 0; column < 12; column += 4) {
      for (std::size_t c = 0; c < 3; ++c, ++at) {
        EXPECT_NEAR(read.bytes[(row * 12 + column) * 3 + c], kSome[at], 2) << row << " " << column;
      }
    }
  }
}

TEST(PicturesOfPillow, AreJpegFilesOfInks) {
  if (!has_part("jpeg")) GTEST_SKIP() << "NOT TESTED: no libjpeg";
  Bytes file = from_hex(kInks);
  for (const auto& expected : {kOfInks, kOfYcck}) {
    Pixels read;
    jpeg::decode(file, 8, 8, false, read);
    ASSERT_EQ(read.channels, 3);
    const std::int64_t wanted[] = {0, 3, 7, 0, 4, 7};
    for (std::size_t i = 0; i < 27; ++i) {
      const std::int64_t row = wanted[i / 9], column = wanted[3 + i / 3 % 3];
      const auto at = static_cast<std::size_t>((row * 8 + column) * read.stride) + i % 3;
      EXPECT_NEAR(read.bytes[at], expected[i], 2) << row << " " << column;
    }
    file[kTransformAt] = std::byte{2};
  }
  // As a sample: one channel, and a part of it.
  file[kTransformAt] = std::byte{0};
  Pixels read;
  jpeg::decode_part(file, {.channels = 1, .height = 8, .width = 8}, {}, true, read);
  float grey[64];
  fit(read, {.channels = 1, .height = 8, .width = 8}, grey);
  EXPECT_NEAR(grey[0] * 255, 107, 2);
  EXPECT_NEAR(grey[63] * 255, 95, 2);
}

TEST(PicturesOfPillow, ArePngFiles) {
  if (!has_part("png")) GTEST_SKIP() << "NOT TESTED: no libpng";
  Pixels read;
  png::decode(from_hex(kTransparent), false, read);
  EXPECT_THAT(read.bytes, ElementsAre(200, 100, 50, 0, 0, 0));
  png::decode(from_hex(kSixteenBits), false, read);
  EXPECT_THAT(read.bytes, ElementsAre(0, 128, 255));
  png::decode(from_hex(kPalette), false, read);
  EXPECT_THAT(read.bytes, ElementsAre(0, 0, 255, 200, 100, 50, 10, 20, 30));
  png::decode(from_hex(kGreyAndAlpha), false, read);
  EXPECT_THAT(read.bytes, ElementsAre(200, 0));
}

}  // namespace
}  // namespace trireme::data::image
