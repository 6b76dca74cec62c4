#include "trireme/base/error.h"
#include "trireme/data/jpeg/jpeg.h"

namespace trireme::data::jpeg {
namespace {

[[noreturn]] void refuse_jpeg() {
  throw Error(ErrorCode::Unsupported,
              "this build reads no JPEG files: install libjpeg62-turbo-dev and build again");
}

}  // namespace

bool is_jpeg(ByteView bytes) noexcept {
  return bytes.size() > 2 && bytes[0] == std::byte{0xFF} && bytes[1] == std::byte{0xD8};
}

void decode(ByteView, std::int64_t, std::int64_t, bool, image::Pixels&) {
  refuse_jpeg();
}

void decode_part(ByteView, transform::ImageSize, const transform::ImagePlacement&, bool,
                 image::Pixels&) {
  refuse_jpeg();
}

Bytes encode(const image::Pixels&, int) {
  refuse_jpeg();
}

}  // namespace trireme::data::jpeg
