// Pixels is an image, or a part of it, as stored in its file: bytes, row by row, with the channels
// of a pixel together.
//
// Thread safety: a value type.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/data/transform/image.h"

namespace trireme::data::image {

// A rectangle of an image.
struct ImageRegion {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct Pixels {
  std::int64_t channels = 0;  // 1 or 3
  std::int64_t height = 0;    // of the whole image
  std::int64_t width = 0;
  std::vector<std::uint8_t> bytes = {};
  std::int64_t stride = 0;  // bytes per pixel; 0: the number of channels
  ImageRegion part = {};    // the part that is available; no rows: all of it
};

// Decoding uses a few bytes of memory per pixel, and a small file may claim any number of pixels.
// 8192 x 8192 is far more than models are trained on.
inline constexpr std::int64_t kPixelsMax = std::int64_t{1} << 26;

// Throws Corrupt if an image has more than kPixelsMax pixels; `kind` is "JPEG" or "PNG".
void expect_pixels(const char* kind, std::int64_t height, std::int64_t width);

// The part of an image of this size that fit() reads; no rows if it reads nothing.
ImageRegion part_for(std::int64_t height, std::int64_t width, transform::ImageSize size,
                     const transform::ImagePlacement& placement);

// Converts the image to (C, H, W) with values from 0 to 1: scales it by one factor, bilinearly,
// until it covers the size, crops both sides evenly, then places it like transform::place().
// Greyscale images have their value in all three channels.
// REQUIRES: size has 3 channels, or 1 for greyscale images; the pixels of part_for() are available.
void fit(const Pixels& pixels, transform::ImageSize size, float* image,
         const transform::ImagePlacement& placement = {});

}  // namespace trireme::data::image
