// unpack_row() makes of a row of pixels a row of each plane of an image: values from 0 to 1.
//
// Threads: pure.

#pragma once

#include <cstdint>

namespace trireme::data::image {

struct PixelRow {
  std::int64_t stride = 1;  // bytes a pixel
  std::int64_t count = 0;
  std::int64_t channels = 1;  // the first bytes of each pixel
};

// Channel c goes to to + c * plane, from the last pixel to the first where `is_mirrored`.
// The same bits on every machine: one multiplication each.
void unpack_row(const std::uint8_t* from, const PixelRow& row, bool is_mirrored, float* to,
                std::int64_t plane);

}  // namespace trireme::data::image
