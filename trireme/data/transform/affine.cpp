#include "trireme/data/transform/affine.h"

#include <cmath>
#include <numbers>

namespace trireme::data::transform {
namespace {

float pixel(const float* plane, ImageSize size, std::int64_t y, std::int64_t x) {
  const bool is_in = y >= 0 && y < size.height && x >= 0 && x < size.width;
  return is_in ? plane[y * size.width + x] : 0.0F;
}

float looked_up(const float* plane, ImageSize size, float y, float x) {
  const float top = std::floor(y), left = std::floor(x);
  const float down = y - top, right = x - left;
  const auto row = static_cast<std::int64_t>(top);
  const auto column = static_cast<std::int64_t>(left);
  return (1 - down) * ((1 - right) * pixel(plane, size, row, column) +
                       right * pixel(plane, size, row, column + 1)) +
         down * ((1 - right) * pixel(plane, size, row + 1, column) +
                 right * pixel(plane, size, row + 1, column + 1));
}

}  // namespace

Affine Affine::turned(double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const auto c = static_cast<float>(std::cos(angle));
  const auto s = static_cast<float>(std::sin(angle));
  return {.xx = c, .xy = -s, .yx = s, .yy = c};
}

Affine Affine::scaled(double factor) {
  const auto back = static_cast<float>(1 / factor);
  return {.xx = back, .yy = back};
}

Affine Affine::slanted(double along_x, double along_y) {
  return {.xy = static_cast<float>(along_x), .yx = static_cast<float>(along_y)};
}

Affine Affine::moved(double right, double down) {
  return {.x = static_cast<float>(-right), .y = static_cast<float>(-down)};
}

bool Affine::is_nothing() const noexcept {
  return xx == 1 && yy == 1 && xy == 0 && yx == 0 && x == 0 && y == 0;
}

// The matrices map new points to old points, so the last transform is inverted first.
Affine Affine::after(const Affine& first) const {
  return {.xx = first.xx * xx + first.xy * yx,
          .xy = first.xx * xy + first.xy * yy,
          .x = first.xx * x + first.xy * y + first.x,
          .yx = first.yx * xx + first.yy * yx,
          .yy = first.yx * xy + first.yy * yy,
          .y = first.yx * x + first.yy * y + first.y};
}

void warp(const float* from, float* to, ImageSize size, const Affine& affine) {
  const float middle_y = static_cast<float>(size.height - 1) / 2;
  const float middle_x = static_cast<float>(size.width - 1) / 2;
  for (std::int64_t c = 0; c < size.channels; ++c) {
    const float* const plane = from + c * size.height * size.width;
    for (std::int64_t row = 0; row < size.height; ++row) {
      const float y = static_cast<float>(row) - middle_y;
      for (std::int64_t column = 0; column < size.width; ++column) {
        const float x = static_cast<float>(column) - middle_x;
        *to++ = looked_up(plane, size, affine.yx * x + affine.yy * y + affine.y + middle_y,
                          affine.xx * x + affine.xy * y + affine.x + middle_x);
      }
    }
  }
}

}  // namespace trireme::data::transform
