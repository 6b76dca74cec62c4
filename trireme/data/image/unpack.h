// unpack_row() converts a row of pixels to one row of each plane of an image, with values from 0 to
// 1.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>

namespace trireme::data::image {

struct PixelRow {
  std::int64_t stride = 1;  // bytes per pixel
  std::int64_t count = 0;
  std::int64_t channels = 1;  // stored in the first bytes of each pixel
};

// Channel c is written to to + c * plane, from the last pixel to the first if `is_mirrored`. The
// result is bitwise identical on every machine: one multiplication per value.
void unpack_row(const std::uint8_t* from, const PixelRow& row, bool is_mirrored, float* to,
                std::int64_t plane);

}  // namespace trireme::data::image
