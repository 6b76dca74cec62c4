// Goal:   a decoded and placed part of an image is bitwise identical to the same part of the whole
//         image; damage outside of the part is detected too.
// Method: images of many sizes, cropped, scaled, shifted and mirrored: decode_part() and fit() are
//         compared with decode(), fit() and place(); rows are compared with a plain loop.

#include <gtest/gtest.h>

#include <algorithm>

#include "trireme/base/build_info.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/random.h"
#include "trireme/data/image/folder_source.h"
#include "trireme/data/image/pixels.h"
#include "trireme/data/image/unpack.h"
#include "trireme/data/jpeg/jpeg.h"
#include "trireme/data/png/png.h"
#include "trireme/data/transform/transformed_source.h"
#include "trireme/testing/code_of.h"

namespace trireme::data::image {
namespace {

using testing::code_of;
using transform::ImagePlacement;
using transform::ImageSize;

bool has(std::string_view library) {
  for (const base::BuildPart& part : base::build_info().parts) {
    if (part.name == library) return part.is_on();
  }
  return false;
}

// Coloured blobs with noise, so that every pixel differs from its neighbours.
Pixels blots(std::int64_t channels, std::int64_t height, std::int64_t width) {
  Random random(static_cast<std::uint64_t>(height * 1000 + width));
  Pixels pixels{.channels = channels, .height = height, .width = width};
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t blot = (x / 5 + y / 7 + c) % 3 * 80;
        pixels.bytes.push_back(static_cast<std::uint8_t>(blot + std::int64_t(random.below(60))));
      }
    }
  }
  return pixels;
}

std::vector<float> by_whole(const Bytes& file, ImageSize size, const ImagePlacement& placement) {
  Pixels pixels;
  jpeg::decode(file, size.height, size.width, size.channels == 1, pixels);
  std::vector<float> image(static_cast<std::size_t>(size.count()), -1);
  fit(pixels, size, image.data());
  transform::place(image.data(), size, placement);
  return image;
}

std::vector<float> by_part(const Bytes& file, ImageSize size, const ImagePlacement& placement) {
  Pixels pixels;
  jpeg::decode_part(file, size, placement, size.channels == 1, pixels);
  std::vector<float> image(static_cast<std::size_t>(size.count()), -1);
  fit(pixels, size, image.data(), placement);
  return image;
}

TEST(PartOfAPicture, IsWhatTheWholeGives) {
  if (!has("jpeg")) GTEST_SKIP() << "NOT TESTED: no libjpeg";
  for (const std::int64_t from : {1, 3}) {
    for (const auto& [height, width] :
         {std::pair{48, 48}, {49, 131}, {131, 49}, {97, 203}, {200, 96}, {24, 31}}) {
      const Bytes file = jpeg::encode(blots(from, height, width), 90);
      for (const ImageSize size : {ImageSize{3, 48, 48}, {3, 24, 31}, {1, 20, 50}, {3, 31, 24}}) {
        for (const std::int64_t down : {-60, -17, -1, 0, 3, 16, 60}) {
          for (const std::int64_t right : {-60, -16, -2, 0, 1, 19, 60}) {
            for (const bool is_flipped : {false, true}) {
              const ImagePlacement placement{
                  .down = down, .right = right, .is_flipped = is_flipped};
              ASSERT_EQ(by_part(file, size, placement), by_whole(file, size, placement))
                  << height << 'x' << width << " as " << size.height << 'x' << size.width << " of "
                  << size.channels << ", moved by " << down << ", " << right
                  << (is_flipped ? ", mirrored" : "");
            }
          }
        }
      }
    }
  }
}

TEST(PartOfAPicture, IsNoMoreThanIsLookedAt) {
  const ImageRegion cut = part_for(100, 300, {3, 100, 100}, {.down = 10, .right = -20});
  EXPECT_EQ(cut.top, 0);
  EXPECT_EQ(cut.height, 90);
  EXPECT_EQ(cut.left, 120);
  EXPECT_EQ(cut.width, 80);
  EXPECT_EQ(part_for(100, 300, {3, 100, 100}, {.down = 100}).height, 0);
  const ImageRegion halved = part_for(200, 600, {3, 100, 100}, {});
  EXPECT_EQ(halved.left, 200);
  EXPECT_EQ(halved.width, 200);
  if (!has("jpeg")) GTEST_SKIP() << "NOT TESTED: no libjpeg";
  Pixels pixels;
  jpeg::decode_part(jpeg::encode(blots(3, 100, 300), 90), {3, 100, 100}, {}, false, pixels);
  EXPECT_LT(pixels.part.width, 100 + 2 * 16 + 4);
  EXPECT_EQ(pixels.width, 300);
}

TEST(PartOfAPicture, IsRefusedWhereverItsFileIsDamaged) {
  if (!has("jpeg")) GTEST_SKIP() << "NOT TESTED: no libjpeg";
  const Bytes file = jpeg::encode(blots(3, 160, 160), 90);
  const Bytes sound = jpeg::encode(blots(3, 48, 48), 90);
  const ImagePlacement away{.down = 100};  // only 60 rows at the top are needed
  const std::vector<float> expected = by_whole(sound, {3, 48, 48}, {});
  for (std::size_t part = 1; part < 16; ++part) {
    const Bytes cut(file.begin(), file.begin() + std::ptrdiff_t(file.size() * part / 16));
    EXPECT_EQ(code_of([&] { by_part(cut, {3, 160, 160}, away); }), ErrorCode::Corrupt) << part;
    // The decoder that failed is reused.
    EXPECT_EQ(by_part(sound, {3, 48, 48}, {}), expected);
  }
}

TEST(UnpackedRows, AreBytesOver255) {
  Random random(1);
  std::vector<std::uint8_t> bytes(4 * 300 + 7);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.bits32());
  for (const auto& [stride, channels] : {std::pair{1, 1}, {3, 3}, {4, 3}, {3, 1}}) {
    for (const std::int64_t count : {0, 1, 3, 7, 8, 9, 31, 224, 225}) {
      for (const bool is_mirrored : {false, true}) {
        std::vector<float> planes(3 * 300, -1), expected = planes;
        for (std::int64_t i = 0; i < count * channels; ++i) {
          const std::int64_t x = i / channels, c = i % channels;
          const std::int64_t from = is_mirrored ? count - 1 - x : x;
          expected[std::size_t(c * 300 + x)] =
              static_cast<float>(bytes[std::size_t(3 + from * stride + c)]) * (1.0F / 255.0F);
        }
        unpack_row(bytes.data() + 3, {.stride = stride, .count = count, .channels = channels},
                   is_mirrored, planes.data(), 300);
        EXPECT_EQ(planes, expected) << stride << ' ' << count << ' ' << is_mirrored;
      }
    }
  }
}

// A folder source that decodes in place, and the same images in a source that cannot.
TEST(PlacedPictures, ArePlacedAsAnyOthers) {
  if (!has("jpeg")) GTEST_SKIP() << "NOT TESTED: no libjpeg";
  const TemporaryFolder folder("placed");
  std::filesystem::create_directories(folder.path() / "any");
  write_file_atomically(folder.path() / "any/a.jpg", jpeg::encode(blots(3, 60, 52), 90));
  write_file_atomically(folder.path() / "any/b.jpg", jpeg::encode(blots(1, 40, 90), 90));
  write_file_atomically(folder.path() / "any/c.png", png::encode(blots(3, 40, 40)));
  const auto plain =
      std::make_shared<FolderSource>(folder.path(), FolderConfig{.train = {}, .size = {40, 40}});
  const auto moved =
      transform::transformed(plain, {.pad_crop = 6, .is_flipped = true}, transform::Use::Training);
  const ImageSize size{3, 40, 40};
  std::vector<float> image(static_cast<std::size_t>(size.count())), got = image;
  std::int64_t label = 0;
  for (std::int64_t sample = 0; sample < 3; ++sample) {
    for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
      const SampleKey key{.seed = 1, .epoch = epoch, .sample = sample};
      moved->read(sample, key, got.data(), &label);
      bool is_found = false;
      for (int choice = 0; choice < 13 * 13 * 2 && !is_found; ++choice) {
        plain->Source::read_placed(
            sample, key,
            {.down = choice / 26 - 6, .right = choice / 2 % 13 - 6, .is_flipped = choice % 2 == 1},
            image.data(), &label);
        is_found = image == got;
      }
      EXPECT_TRUE(is_found) << sample << ' ' << epoch;
    }
  }
}

// Sets the sizes in the frame header of a JPEG file, and its kind: 0xC0 baseline, 0xC2 progressive.
Bytes resized(Bytes file, std::uint16_t size, std::uint8_t kind) {
  const std::byte marker[] = {std::byte{0xFF}, std::byte{0xC0}};
  const auto frame = std::search(file.begin(), file.end(), marker, marker + 2);
  if (frame == file.end()) return {};
  frame[1] = std::byte{kind};
  for (const int at : {5, 7}) {
    frame[at] = static_cast<std::byte>(size >> 8);
    frame[at + 1] = static_cast<std::byte>(size & 0xFF);
  }
  return file;
}

// Sets the sizes in the header of a PNG file, and the checksum of the header.
Bytes png_resized(Bytes file, std::uint32_t size) {
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) file[at++] = static_cast<std::byte>(value >> (24 - 8 * i) & 0xFF);
  };
  put(16, size);
  put(20, size);
  std::uint32_t checksum = ~std::uint32_t{0};
  for (std::size_t at = 12; at < 29; ++at) {
    checksum ^= static_cast<std::uint32_t>(file[at]);
    for (int bit = 0; bit < 8; ++bit) {
      checksum = checksum >> 1 ^ ((checksum & 1) != 0 ? 0xEDB88320U : 0U);
    }
  }
  put(29, ~checksum);
  return file;
}

TEST(PartOfAPicture, PngFilesOfMorePixelsThanAnyoneTrainsOnAreRefused) {
  if (!has("png")) GTEST_SKIP() << "NOT TESTED: no libpng";
  Pixels pixels;
  try {
    png::decode(png_resized(png::encode(blots(3, 16, 16)), 60000), false, pixels);
    FAIL() << "decoded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Corrupt);
    EXPECT_NE(std::string(error.message()).find("60000 x 60000 pixels"), std::string::npos)
        << error.message();
  }
}

TEST(PartOfAPicture, JpegFilesOfMorePixelsThanAnyoneTrainsOnAreRefused) {
  EXPECT_NO_THROW(expect_pixels("PNG", 8192, 8192));
  EXPECT_NO_THROW(expect_pixels("PNG", 1, kPixelsMax));
  EXPECT_EQ(code_of([] { expect_pixels("PNG", 8193, 8192); }), ErrorCode::Corrupt);
  EXPECT_EQ(code_of([] { expect_pixels("PNG", std::int64_t{1} << 62, 1 << 20); }),
            ErrorCode::Corrupt);
  if (!has("jpeg")) GTEST_SKIP() << "NOT TESTED: no libjpeg";
  const Bytes file = jpeg::encode(blots(3, 16, 16), 90);
  const auto message_of = [&](std::uint16_t size, std::uint8_t kind, std::int64_t wanted) {
    Pixels pixels;
    try {
      jpeg::decode(resized(file, size, kind), wanted, wanted, false, pixels);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_NE(message_of(60000, 0xC0, 60000).find("60000 x 60000 pixels"), std::string::npos);
  // Decoded to an eighth of its size, but libjpeg would hold all of it.
  EXPECT_NE(message_of(60000, 0xC2, 8).find("60000 x 60000 pixels"), std::string::npos);
}

}  // namespace
}  // namespace trireme::data::image
