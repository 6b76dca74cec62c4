// What is done to an image, (C, H, W) of float32, in place but for resize().
//
// Threads: pure.

#pragma once

#include <cstdint>

namespace trireme::data::transform {

struct ImageSize {
  std::int64_t channels = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;

  std::int64_t count() const noexcept { return channels * height * width; }
};

// Where an image is put: so many rows down and columns right, and then, perhaps, mirrored.
struct Placement {
  std::int64_t down = 0;
  std::int64_t right = 0;
  bool is_flipped = false;
};

// Bilinear between the centres of pixels, as torch's interpolate() without align_corners and
// without antialias. REQUIRES: equal channels, no pixel shared.
void resize(const float* from, ImageSize from_size, float* to, ImageSize to_size);

// Moves the image by so many rows down and columns right; what comes in is zero. This is what
// padding and cropping back to the same size amounts to.
void shift(float* image, ImageSize size, std::int64_t down, std::int64_t right);

// Left becomes right.
void flip(float* image, ImageSize size);

// shift(), then flip().
void place(float* image, ImageSize size, const Placement& placement);

// Mean 0 and deviation 1 over the whole image. As TensorFlow's per_image_standardization, an even
// image is divided by 1 / sqrt(pixels) at least, and so stays finite.
void standardize(float* image, ImageSize size);

// (x - mean[c]) / deviation[c].
void normalize(float* image, ImageSize size, const float* mean, const float* deviation);

}  // namespace trireme::data::transform
