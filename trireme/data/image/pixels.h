// Pixels are a picture as its file has it: bytes, row by row, the channels of a pixel together.
//
// Threads: a value.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/data/transform/image.h"

namespace trireme::data::image {

struct Pixels {
  std::int64_t channels = 0;  // 1 or 3
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> bytes = {};
};

// The picture as (C, H, W) of values from 0 to 1: scaled by one factor, bilinear, until it covers
// the size, and cut off evenly on both sides. Grey ones have their value in all three channels.
// REQUIRES: size has 1 channel for grey ones only, or 3.
void fit(const Pixels& pixels, transform::ImageSize size, float* image);

}  // namespace trireme::data::image
