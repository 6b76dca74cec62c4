// Pixels are a picture, or a part of it, as its file has it: bytes, row by row, the channels of a
// pixel together.
//
// Threads: a value.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/data/transform/image.h"

namespace trireme::data::image {

// Some rows and columns of a picture.
struct Part {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct Pixels {
  std::int64_t channels = 0;  // 1 or 3
  std::int64_t height = 0;    // of the whole picture
  std::int64_t width = 0;
  std::vector<std::uint8_t> bytes = {};
  std::int64_t stride = 0;  // bytes a pixel; 0: as many as channels
  Part part = {};           // what is there of it; of no rows: all
};

// What fit() looks at in a picture of so many rows and columns; of no rows: nothing.
Part part_for(std::int64_t height, std::int64_t width, transform::ImageSize size,
              const transform::Placement& placement);

// The picture as (C, H, W) of values from 0 to 1: scaled by one factor, bilinear, until it covers
// the size, and cut off evenly on both sides, then placed as transform::place() does. Grey ones
// have their value in all three channels.
// REQUIRES: size has 1 channel for grey ones only, or 3; the pixels of part_for() are there.
void fit(const Pixels& pixels, transform::ImageSize size, float* image,
         const transform::Placement& placement = {});

}  // namespace trireme::data::image
