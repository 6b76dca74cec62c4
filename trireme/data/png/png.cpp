#include "trireme/data/png/png.h"

#include <png.h>

#include <cstring>
#include <string>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data::png {
namespace {

// Uses libpng's simplified interface: no callbacks, no longjmp.
struct Picture {
  png_image image{};

  Picture() { image.version = PNG_IMAGE_VERSION; }
  ~Picture() { png_image_free(&image); }
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::Corrupt, std::string("PNG: ") + image.message);
  }
};

}  // namespace

bool is_png(ByteView bytes) noexcept {
  return bytes.size() > 8 && std::memcmp(bytes.data(), "\x89PNG\r\n\x1a\n", 8) == 0;
}

void decode(ByteView bytes, bool is_grey, image::Pixels& pixels) {
  Picture picture;
  if (!png_image_begin_read_from_memory(&picture.image, bytes.data(), bytes.size())) picture.fail();
  // As in other programs: 16-bit values are sRGB like 8-bit values, not linear.
  picture.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  const bool is_coloured = (picture.image.format & PNG_FORMAT_FLAG_COLOR) != 0 && !is_grey;
  picture.image.format = is_coloured ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  pixels.channels = is_coloured ? 3 : 1;
  pixels.height = picture.image.height;
  pixels.width = picture.image.width;
  pixels.stride = 0;
  pixels.part = {};
  image::expect_pixels("PNG", pixels.height, pixels.width);
  pixels.bytes.resize(PNG_IMAGE_SIZE(picture.image));
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&picture.image, &black, pixels.bytes.data(), 0, nullptr)) {
    picture.fail();
  }
}

Bytes encode(const image::Pixels& pixels) {
  TRIREME_CHECK(pixels.channels == 1 || pixels.channels == 3, pixels.channels, " channels");
  Picture picture;
  picture.image.width = static_cast<png_uint_32>(pixels.width);
  picture.image.height = static_cast<png_uint_32>(pixels.height);
  picture.image.format = pixels.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(picture.image);
  Bytes out(size);
  if (!png_image_write_to_memory(&picture.image, out.data(), &size, 0, pixels.bytes.data(), 0,
                                 nullptr)) {
    picture.fail();
  }
  out.resize(size);
  return out;
}

}  // namespace trireme::data::png
