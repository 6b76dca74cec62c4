#include "trireme/data/image/unpack.h"

#include <cstring>

// One loop, compiled for several vector widths; the best one for the machine is selected at run
// time.
#define TRIREME_UNPACK_WIDE __attribute__((target_clones("avx2", "default")))

namespace trireme::data::image {
namespace {

constexpr float kStep = 1.0F / 255.0F;

// Converts as a signed number, because only those have vector instructions.
inline float value_of(std::uint32_t pixel, int shift) {
  return static_cast<float>(static_cast<std::int32_t>((pixel >> shift) & 0xFF)) * kStep;
}

inline std::uint32_t pixel_at(const std::uint8_t* from) {
  std::uint32_t pixel = 0;
  std::memcpy(&pixel, from, sizeof(pixel));
  return pixel;
}

// Three colour bytes and one unused byte: a pixel is one word.
TRIREME_UNPACK_WIDE void unpack_words(const std::uint8_t* __restrict from, std::int64_t count,
                                      float* __restrict red, float* __restrict green,
                                      float* __restrict blue) {
  for (std::int64_t x = 0; x < count; ++x) {
    const std::uint32_t pixel = pixel_at(from + 4 * x);
    red[x] = value_of(pixel, 0);
    green[x] = value_of(pixel, 8);
    blue[x] = value_of(pixel, 16);
  }
}

TRIREME_UNPACK_WIDE void mirror_words(const std::uint8_t* __restrict from, std::int64_t count,
                                      float* __restrict red, float* __restrict green,
                                      float* __restrict blue) {
  for (std::int64_t x = 0; x < count; ++x) {
    const std::uint32_t pixel = pixel_at(from + 4 * (count - 1 - x));
    red[x] = value_of(pixel, 0);
    green[x] = value_of(pixel, 8);
    blue[x] = value_of(pixel, 16);
  }
}

TRIREME_UNPACK_WIDE void unpack_bytes(const std::uint8_t* __restrict from, std::int64_t count,
                                      std::int64_t stride, float* __restrict to) {
  for (std::int64_t x = 0; x < count; ++x) to[x] = static_cast<float>(from[x * stride]) * kStep;
}

}  // namespace

void unpack_row(const std::uint8_t* from, const PixelRow& row, bool is_mirrored, float* to,
                std::int64_t plane) {
  if (row.stride == 4 && row.channels == 3) {
    const auto unpack = is_mirrored ? mirror_words : unpack_words;
    return unpack(from, row.count, to, to + plane, to + 2 * plane);
  }
  const std::int64_t first = is_mirrored ? (row.count - 1) * row.stride : 0;
  const std::int64_t step = is_mirrored ? -row.stride : row.stride;
  for (std::int64_t c = 0; c < row.channels; ++c) {
    unpack_bytes(from + first + c, row.count, step, to + c * plane);
  }
}

}  // namespace trireme::data::image
