// Goal:   pictures of other programs are read as those programs read them.
// Method: files that Pillow 13.0 wrote, and what it reads in them: JPEG with colours at half the
//         size, PNG with a transparent pixel and with 16 bits.

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

TEST(PicturesOfPillow, ArePngFiles) {
  if (!has_part("png")) GTEST_SKIP() << "NOT TESTED: no libpng";
  Pixels read;
  png::decode(from_hex(kTransparent), false, read);
  EXPECT_THAT(read.bytes, ElementsAre(200, 100, 50, 0, 0, 0));
  png::decode(from_hex(kSixteenBits), false, read);
  EXPECT_THAT(read.bytes, ElementsAre(0, 128, 255));
}

}  // namespace
}  // namespace trireme::data::image
