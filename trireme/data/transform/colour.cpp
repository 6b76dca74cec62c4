#include "trireme/data/transform/colour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace trireme::data::transform {
namespace {

std::int64_t plane_of(ImageSize size) {
  return size.height * size.width;
}

float blended(float value, float other, float factor) {
  return std::clamp(factor * value + (1 - factor) * other, 0.0F, 1.0F);
}

float grey_at(const float* image, ImageSize size, std::int64_t i) {
  if (size.channels != 3) return image[i];
  const std::int64_t plane = plane_of(size);
  return 0.2989F * image[i] + 0.587F * image[plane + i] + 0.114F * image[2 * plane + i];
}

int byte_of(float value) {
  return static_cast<int>(std::lround(std::clamp(value, 0.0F, 1.0F) * 255.0F));
}

// As in Pillow and torchvision: the last occupied value is not counted in the step.
void equalize_plane(float* plane, std::int64_t count) {
  std::array<std::int64_t, 256> histogram{};
  for (std::int64_t i = 0; i < count; ++i) ++histogram[static_cast<std::size_t>(byte_of(plane[i]))];
  std::int64_t last = 0;
  for (const std::int64_t occupied : histogram) last = occupied > 0 ? occupied : last;
  const std::int64_t step = (count - last) / 255;
  if (step == 0) return;
  std::array<float, 256> table{};
  std::int64_t before = 0;
  for (std::size_t value = 0; value < 256; ++value) {
    const std::int64_t level = (before + step / 2) / step;
    table[value] = static_cast<float>(std::min<std::int64_t>(level, 255)) / 255.0F;
    before += histogram[value];
  }
  for (std::int64_t i = 0; i < count; ++i) {
    plane[i] = table[static_cast<std::size_t>(byte_of(plane[i]))];
  }
}

struct Hsv {
  float hue, saturation, value;  // each from 0 to 1
};

Hsv hsv_of(float red, float green, float blue) {
  const float most = std::max({red, green, blue}), least = std::min({red, green, blue});
  const float range = most - least;
  if (range <= 0) return {0, 0, most};
  const float r = (most - red) / range, g = (most - green) / range, b = (most - blue) / range;
  const float sixths = most == red ? b - g : most == green ? 2 + r - b : 4 + g - r;
  const float hue = sixths / 6;
  return {hue - std::floor(hue), range / most, most};
}

std::array<float, 3> rgb_of(const Hsv& colour) {
  const float sixths = colour.hue * 6;
  const float within = sixths - std::floor(sixths);
  const float p = colour.value * (1 - colour.saturation);
  const float q = colour.value * (1 - colour.saturation * within);
  const float t = colour.value * (1 - colour.saturation * (1 - within));
  switch (static_cast<int>(std::floor(sixths)) % 6) {
    case 0:
      return {colour.value, t, p};
    case 1:
      return {q, colour.value, p};
    case 2:
      return {p, colour.value, t};
    case 3:
      return {p, q, colour.value};
    case 4:
      return {t, p, colour.value};
    default:
      return {colour.value, p, q};
  }
}

}  // namespace

void adjust_hue(float* image, ImageSize size, float turn) {
  if (size.channels != 3) return;
  const std::int64_t plane = plane_of(size);
  for (std::int64_t i = 0; i < plane; ++i) {
    Hsv colour = hsv_of(image[i], image[plane + i], image[2 * plane + i]);
    colour.hue += turn;
    colour.hue -= std::floor(colour.hue);
    const std::array<float, 3> turned = rgb_of(colour);
    for (std::int64_t c = 0; c < 3; ++c) {
      image[c * plane + i] = std::clamp(turned[static_cast<std::size_t>(c)], 0.0F, 1.0F);
    }
  }
}

void adjust_brightness(float* image, ImageSize size, float factor) {
  for (std::int64_t i = 0; i < size.count(); ++i) image[i] = blended(image[i], 0, factor);
}

void adjust_contrast(float* image, ImageSize size, float factor) {
  double sum = 0;
  for (std::int64_t i = 0; i < plane_of(size); ++i) sum += grey_at(image, size, i);
  const auto mean = static_cast<float>(sum / static_cast<double>(plane_of(size)));
  for (std::int64_t i = 0; i < size.count(); ++i) image[i] = blended(image[i], mean, factor);
}

void adjust_saturation(float* image, ImageSize size, float factor) {
  if (size.channels != 3) return;
  for (std::int64_t i = 0; i < plane_of(size); ++i) {
    const float grey = grey_at(image, size, i);
    for (std::int64_t c = 0; c < 3; ++c) {
      float& value = image[c * plane_of(size) + i];
      value = blended(value, grey, factor);
    }
  }
}

// The blur kernel has weight 5 for the pixel and 1 for each neighbour; border pixels do not change.
void adjust_sharpness(float* image, ImageSize size, float factor) {
  if (size.height < 3 || size.width < 3) return;
  thread_local std::vector<float> blurred;
  const std::int64_t width = size.width;
  for (std::int64_t c = 0; c < size.channels; ++c) {
    float* const plane = image + c * plane_of(size);
    blurred.assign(plane, plane + plane_of(size));
    for (std::int64_t y = 1; y + 1 < size.height; ++y) {
      for (std::int64_t x = 1; x + 1 < width; ++x) {
        float sum = 4 * plane[y * width + x];
        for (std::int64_t down = -1; down <= 1; ++down) {
          for (std::int64_t right = -1; right <= 1; ++right) {
            sum += plane[(y + down) * width + x + right];
          }
        }
        blurred[static_cast<std::size_t>(y * width + x)] = sum / 13.0F;
      }
    }
    for (std::int64_t i = 0; i < plane_of(size); ++i) {
      plane[i] = blended(plane[i], blurred[static_cast<std::size_t>(i)], factor);
    }
  }
}

void posterize(float* image, ImageSize size, int bits) {
  const int mask = 0xFF & ~(0xFF >> bits);
  for (std::int64_t i = 0; i < size.count(); ++i) {
    image[i] = static_cast<float>(byte_of(image[i]) & mask) / 255.0F;
  }
}

void solarize(float* image, ImageSize size, float threshold) {
  for (std::int64_t i = 0; i < size.count(); ++i) {
    if (image[i] >= threshold) image[i] = 1 - image[i];
  }
}

void autocontrast(float* image, ImageSize size) {
  for (std::int64_t c = 0; c < size.channels; ++c) {
    float* const plane = image + c * plane_of(size);
    const auto [least, most] = std::minmax_element(plane, plane + plane_of(size));
    const float low = *least, range = *most - *least;
    if (range <= 0) continue;
    for (std::int64_t i = 0; i < plane_of(size); ++i) {
      plane[i] = std::clamp((plane[i] - low) / range, 0.0F, 1.0F);
    }
  }
}

void equalize(float* image, ImageSize size) {
  for (std::int64_t c = 0; c < size.channels; ++c) {
    equalize_plane(image + c * plane_of(size), plane_of(size));
  }
}

void cut_out(float* image, ImageSize size, std::int64_t side, std::int64_t row,
             std::int64_t column) {
  const std::int64_t top = std::max<std::int64_t>(row - side / 2, 0);
  const std::int64_t bottom = std::min(row - side / 2 + side, size.height);
  const std::int64_t left = std::max<std::int64_t>(column - side / 2, 0);
  const std::int64_t right = std::min(column - side / 2 + side, size.width);
  for (std::int64_t c = 0; c < size.channels; ++c) {
    for (std::int64_t y = top; y < bottom; ++y) {
      float* const line = image + (c * size.height + y) * size.width;
      std::fill(line + std::min(left, right), line + right, 0.0F);
    }
  }
}

}  // namespace trireme::data::transform
