#include <cstring>

#include "trireme/base/error.h"
#include "trireme/data/png/png.h"

namespace trireme::data::png {
namespace {

[[noreturn]] void refuse_png() {
  throw Error(ErrorCode::Unsupported,
              "this build reads no PNG files: install libpng-dev and build again");
}

}  // namespace

bool is_png(ByteView bytes) noexcept {
  return bytes.size() > 8 && std::memcmp(bytes.data(), "\x89PNG\r\n\x1a\n", 8) == 0;
}

void decode(ByteView, bool, image::Pixels&) {
  refuse_png();
}

Bytes encode(const image::Pixels&) {
  refuse_png();
}

}  // namespace trireme::data::png
