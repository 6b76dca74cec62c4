// Operations on an image, (C, H, W) of float32, in place except for resize().
//
// Thread safety: pure functions; any thread.

#pragma once

#include <cstdint>

namespace trireme::data::transform {

struct ImageSize {
  std::int64_t channels = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;

  std::int64_t count() const noexcept { return channels * height * width; }
};

// How an image is placed: shifted by this number of rows down and columns right, then optionally
// mirrored.
struct ImagePlacement {
  std::int64_t down = 0;
  std::int64_t right = 0;
  bool is_flipped = false;
};

// Bilinear between pixel centres, like torch's interpolate() without align_corners and antialias.
// REQUIRES: the same number of channels; the images do not overlap.
void resize(const float* from, ImageSize from_size, float* to, ImageSize to_size);

// Shifts the image by this number of rows down and columns right; new pixels are zero. This is
// equivalent to padding and cropping back to the same size.
void shift(float* image, ImageSize size, std::int64_t down, std::int64_t right);

// Mirrors the image horizontally.
void flip(float* image, ImageSize size);

// shift(), then flip().
void place(float* image, ImageSize size, const ImagePlacement& placement);

// Standardizes to mean 0 and deviation 1 over the whole image. Like TensorFlow's
// per_image_standardization, the divisor is at least 1 / sqrt(pixels), so that a uniform image
// stays finite.
void standardize(float* image, ImageSize size);

// (x - mean[c]) / deviation[c].
void normalize(float* image, ImageSize size, const float* mean, const float* deviation);

}  // namespace trireme::data::transform
