#include "trireme/data/image/pixels.h"

#include <algorithm>
#include <cmath>

#include "trireme/base/check.h"

namespace trireme::data::image {
namespace {

struct Tap {
  std::int64_t before = 0;
  std::int64_t after = 0;
  float share = 0;
};

// For each of `to` pixels in the middle of a line of `from`, scaled by 1 / step.
std::vector<Tap> taps(std::int64_t from, std::int64_t to, double step) {
  const double begin = (static_cast<double>(from) - static_cast<double>(to) * step) / 2;
  std::vector<Tap> all;
  for (std::int64_t i = 0; i < to; ++i) {
    const double last = static_cast<double>(from - 1);
    const double at = std::clamp(begin + (static_cast<double>(i) + 0.5) * step - 0.5, 0.0, last);
    const auto before = static_cast<std::int64_t>(at);
    all.push_back({before, std::min(before + 1, from - 1),
                   static_cast<float>(at - static_cast<double>(before))});
  }
  return all;
}

// No scaling: the middle as it is.
void cut(const Pixels& pixels, transform::ImageSize size, float* image) {
  const std::int64_t top = (pixels.height - size.height) / 2;
  const std::int64_t left = (pixels.width - size.width) / 2;
  for (std::int64_t c = 0; c < size.channels; ++c) {
    const std::int64_t channel = pixels.channels == 1 ? 0 : c;
    for (std::int64_t y = 0; y < size.height; ++y) {
      const std::uint8_t* from =
          pixels.bytes.data() + ((top + y) * pixels.width + left) * pixels.channels + channel;
      for (std::int64_t x = 0; x < size.width; ++x, from += pixels.channels) {
        *image++ = static_cast<float>(*from) * (1.0F / 255.0F);
      }
    }
  }
}

}  // namespace

void fit(const Pixels& pixels, transform::ImageSize size, float* image) {
  TRIREME_CHECK(size.channels == 3 || pixels.channels == 1, "colours for a grey image");
  const double step =
      std::min(static_cast<double>(pixels.height) / static_cast<double>(size.height),
               static_cast<double>(pixels.width) / static_cast<double>(size.width));
  if (step == 1) return cut(pixels, size, image);
  const std::vector<Tap> rows = taps(pixels.height, size.height, step);
  const std::vector<Tap> columns = taps(pixels.width, size.width, step);
  for (std::int64_t c = 0; c < size.channels; ++c) {
    const std::uint8_t* const first = pixels.bytes.data() + (pixels.channels == 1 ? 0 : c);
    for (const Tap& row : rows) {
      const std::uint8_t* const above = first + row.before * pixels.width * pixels.channels;
      const std::uint8_t* const below = first + row.after * pixels.width * pixels.channels;
      for (const Tap& column : columns) {
        const std::int64_t left = column.before * pixels.channels;
        const std::int64_t right = column.after * pixels.channels;
        const auto mixed = [&](const std::uint8_t* line) {
          return static_cast<float>(line[left]) * (1 - column.share) +
                 static_cast<float>(line[right]) * column.share;
        };
        *image++ = (mixed(above) * (1 - row.share) + mixed(below) * row.share) * (1.0F / 255.0F);
      }
    }
  }
}

}  // namespace trireme::data::image
