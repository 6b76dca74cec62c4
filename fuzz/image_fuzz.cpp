// Goal:   no file crashes the JPEG and PNG decoders, and a decoded image has the stated size.
// Method: the first byte selects how to decode the rest.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "trireme/base/error.h"
#include "trireme/data/jpeg/jpeg.h"
#include "trireme/data/png/png.h"

using namespace trireme;
using namespace trireme::data;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView bytes = std::as_bytes(std::span(data + 1, size - 1));
  const bool is_grey = (data[0] & 1) != 0;
  image::Pixels pixels;
  try {
    if (png::is_png(bytes)) {
      png::decode(bytes, is_grey, pixels);
      require(pixels.bytes.size() ==
              static_cast<std::size_t>(pixels.height * pixels.width * pixels.channels));
    } else if ((data[0] & 2) != 0) {
      jpeg::decode(bytes, 8, 8, is_grey, pixels);
      require(pixels.bytes.size() >=
              static_cast<std::size_t>(pixels.height * pixels.width * pixels.channels));
    } else {
      jpeg::decode_part(bytes, {.channels = 3, .height = 8, .width = 8}, {}, is_grey, pixels);
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Corrupt || error.code() == ErrorCode::Unsupported);
  }
  return 0;
}
