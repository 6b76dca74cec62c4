#include "trireme/data/transform/image.h"

#include <algorithm>
#include <cmath>

namespace trireme::data::transform {
namespace {

// The two pixels on both sides of a point, and its distance from the first.
struct Point {
  std::int64_t before;
  std::int64_t after;
  float share;
};

Point point_at(std::int64_t index, std::int64_t from, std::int64_t to) {
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  const float at = std::max(0.0F, (static_cast<float>(index) + 0.5F) * scale - 0.5F);
  const auto before = std::min(static_cast<std::int64_t>(at), from - 1);
  return {before, std::min(before + 1, from - 1), at - static_cast<float>(before)};
}

}  // namespace

void resize(const float* from, ImageSize from_size, float* to, ImageSize to_size) {
  for (std::int64_t c = 0; c < to_size.channels; ++c) {
    const float* const plane = from + c * from_size.height * from_size.width;
    for (std::int64_t y = 0; y < to_size.height; ++y) {
      const Point row = point_at(y, from_size.height, to_size.height);
      const float* const above = plane + row.before * from_size.width;
      const float* const below = plane + row.after * from_size.width;
      for (std::int64_t x = 0; x < to_size.width; ++x) {
        const Point column = point_at(x, from_size.width, to_size.width);
        const float top =
            above[column.before] * (1 - column.share) + above[column.after] * column.share;
        const float bottom =
            below[column.before] * (1 - column.share) + below[column.after] * column.share;
        *to++ = top * (1 - row.share) + bottom * row.share;
      }
    }
  }
}

void shift(float* image, ImageSize size, std::int64_t down, std::int64_t right) {
  const std::int64_t height = size.height;
  const std::int64_t width = size.width;
  const std::int64_t to = std::clamp<std::int64_t>(right, 0, width);     // first column written
  const std::int64_t from = std::clamp<std::int64_t>(-right, 0, width);  // first column read
  const std::int64_t kept = width - to - from;
  for (std::int64_t c = 0; c < size.channels; ++c) {
    float* const plane = image + c * height * width;
    for (std::int64_t i = 0; i < height; ++i) {
      // The order of rows ensures that no row is overwritten before it has moved.
      const std::int64_t y = down > 0 ? height - 1 - i : i;
      const std::int64_t source = y - down;
      float* const row = plane + y * width;
      if (source < 0 || source >= height) {
        std::fill_n(row, width, 0.0F);
        continue;
      }
      const float* const old = plane + source * width;
      if (to > 0) {
        std::copy_backward(old, old + kept, row + to + kept);
      } else {
        std::copy(old + from, old + from + kept, row);
      }
      std::fill_n(row, to, 0.0F);
      std::fill_n(row + to + kept, from, 0.0F);
    }
  }
}

void flip(float* image, ImageSize size) {
  for (std::int64_t row = 0; row < size.channels * size.height; ++row) {
    std::reverse(image + row * size.width, image + (row + 1) * size.width);
  }
}

void place(float* image, ImageSize size, const ImagePlacement& placement) {
  if (placement.down != 0 || placement.right != 0) {
    shift(image, size, placement.down, placement.right);
  }
  if (placement.is_flipped) flip(image, size);
}

void standardize(float* image, ImageSize size) {
  const auto count = static_cast<double>(size.count());
  double sum = 0;
  for (std::int64_t i = 0; i < size.count(); ++i) sum += image[i];
  const double mean = sum / count;
  double squares = 0;
  for (std::int64_t i = 0; i < size.count(); ++i) {
    squares += (image[i] - mean) * (image[i] - mean);
  }
  const double deviation = std::max(std::sqrt(squares / count), 1 / std::sqrt(count));
  const auto center = static_cast<float>(mean);
  const auto scale = static_cast<float>(1 / deviation);
  for (std::int64_t i = 0; i < size.count(); ++i) image[i] = (image[i] - center) * scale;
}

void normalize(float* image, ImageSize size, const float* mean, const float* deviation) {
  const std::int64_t plane = size.height * size.width;
  for (std::int64_t c = 0; c < size.channels; ++c) {
    float* const at = image + c * plane;
    for (std::int64_t i = 0; i < plane; ++i) at[i] = (at[i] - mean[c]) / deviation[c];
  }
}

}  // namespace trireme::data::transform
