#include "trireme/data/image/pixels.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/image/unpack.h"

namespace trireme::data::image {
namespace {

struct Tap {
  std::int64_t before = 0;
  std::int64_t after = 0;
  float share = 0;
};

// Maps a line of `from` pixels to `to` pixels, cropped around the center and shifted. The visible
// part is `count` pixels that begin at `first` and are stored at `begin`.
struct Line {
  std::int64_t from = 0;
  std::int64_t to = 0;
  double step = 1;
  std::int64_t first = 0;
  std::int64_t begin = 0;
  std::int64_t count = 0;

  Tap tap(std::int64_t i) const {
    if (step == 1) return {(from - to) / 2 + i, (from - to) / 2 + i, 0};
    const double start = (static_cast<double>(from) - static_cast<double>(to) * step) / 2;
    const double last = static_cast<double>(from - 1);
    const double at = std::clamp(start + (static_cast<double>(i) + 0.5) * step - 0.5, 0.0, last);
    const auto before = static_cast<std::int64_t>(at);
    return {before, std::min(before + 1, from - 1),
            static_cast<float>(at - static_cast<double>(before))};
  }

  // Interpolation taps of the visible part, relative to `from_pixel`.
  std::vector<Tap> taps(std::int64_t from_pixel) const {
    std::vector<Tap> all;
    for (std::int64_t i = 0; i < count; ++i) {
      const Tap one = tap(first + i);
      all.push_back({one.before - from_pixel, one.after - from_pixel, one.share});
    }
    return all;
  }
};

Line line_of(std::int64_t from, std::int64_t to, double step, std::int64_t move) {
  return {.from = from,
          .to = to,
          .step = step,
          .first = std::clamp<std::int64_t>(-move, 0, to),
          .begin = std::clamp<std::int64_t>(move, 0, to),
          .count = std::max<std::int64_t>(to - std::abs(move), 0)};
}

struct Lines {
  Line rows;
  Line columns;
};

Lines lines_of(std::int64_t height, std::int64_t width, transform::ImageSize size,
               const transform::ImagePlacement& placement) {
  const double step = std::min(static_cast<double>(height) / static_cast<double>(size.height),
                               static_cast<double>(width) / static_cast<double>(size.width));
  return {line_of(height, size.height, step, placement.down),
          line_of(width, size.width, step, placement.right)};
}

// Sets the pixels that the image does not cover to zero.
void blank(float* plane, transform::ImageSize size, const Line& rows, std::int64_t left,
           std::int64_t count) {
  const std::int64_t bottom = rows.begin + rows.count;
  std::fill_n(plane, rows.begin * size.width, 0.0F);
  std::fill_n(plane + bottom * size.width, (size.height - bottom) * size.width, 0.0F);
  for (std::int64_t y = rows.begin; y < bottom; ++y) {
    std::fill_n(plane + y * size.width, left, 0.0F);
    std::fill_n(plane + y * size.width + left + count, size.width - left - count, 0.0F);
  }
}

// Locates the bytes of the available part of an image.
struct PixelView {
  explicit PixelView(const Pixels& pixels)
      : part(pixels.part.height > 0 ? pixels.part
                                    : ImageRegion{.height = pixels.height, .width = pixels.width}),
        stride(pixels.stride > 0 ? pixels.stride : pixels.channels),
        bytes(pixels.bytes.data()) {}

  // The first available column of a row.
  const std::uint8_t* row(std::int64_t index) const {
    return bytes + (index - part.top) * part.width * stride;
  }

  ImageRegion part;
  std::int64_t stride;
  const std::uint8_t* bytes;
};

// Interpolates one row of one channel; `above` and `below` point to the bytes of that channel.
void mix_row(const std::uint8_t* above, const std::uint8_t* below, float share,
             const std::vector<Tap>& columns, std::int64_t stride, float* to) {
  for (const Tap& column : columns) {
    const std::int64_t left = column.before * stride, right = column.after * stride;
    const auto mixed = [&](const std::uint8_t* line) {
      return static_cast<float>(line[left]) * (1 - column.share) +
             static_cast<float>(line[right]) * column.share;
    };
    *to++ = (mixed(above) * (1 - share) + mixed(below) * share) * (1.0F / 255.0F);
  }
}

}  // namespace

void expect_pixels(const char* kind, std::int64_t height, std::int64_t width) {
  if (height <= kPixelsMax / std::max<std::int64_t>(width, 1)) return;
  throw Error(ErrorCode::Corrupt, std::string(kind) + ": " + std::to_string(width) + " x " +
                                      std::to_string(height) + " pixels, and at most " +
                                      std::to_string(kPixelsMax) +
                                      " are decoded. Store the image at a smaller size");
}

ImageRegion part_for(std::int64_t height, std::int64_t width, transform::ImageSize size,
                     const transform::ImagePlacement& placement) {
  const auto [rows, columns] = lines_of(height, width, size, placement);
  if (rows.count == 0 || columns.count == 0) return {};
  const std::int64_t top = rows.tap(rows.first).before;
  const std::int64_t left = columns.tap(columns.first).before;
  return {.top = top,
          .left = left,
          .height = rows.tap(rows.first + rows.count - 1).after + 1 - top,
          .width = columns.tap(columns.first + columns.count - 1).after + 1 - left};
}

void fit(const Pixels& pixels, transform::ImageSize size, float* image,
         const transform::ImagePlacement& placement) {
  TRIREME_CHECK(size.channels == 3 || pixels.channels == 1, "colours for a grey image");
  const auto [rows, columns] = lines_of(pixels.height, pixels.width, size, placement);
  const std::int64_t plane = size.height * size.width;
  const std::int64_t left =
      placement.is_flipped ? size.width - columns.begin - columns.count : columns.begin;
  for (std::int64_t c = 0; c < size.channels; ++c) {
    blank(image + c * plane, size, rows, left, columns.count);
  }
  const PixelView view(pixels);
  std::vector<Tap> taps;
  if (columns.step != 1) taps = columns.taps(view.part.left);
  if (placement.is_flipped) std::reverse(taps.begin(), taps.end());
  for (std::int64_t i = 0; i < rows.count && columns.count > 0; ++i) {
    const Tap row = rows.tap(rows.first + i);
    float* const to = image + (rows.begin + i) * size.width + left;
    if (columns.step == 1) {
      const std::int64_t column = columns.tap(columns.first).before - view.part.left;
      unpack_row(view.row(row.before) + column * view.stride,
                 {.stride = view.stride, .count = columns.count, .channels = pixels.channels},
                 placement.is_flipped, to, plane);
    } else {
      for (std::int64_t c = 0; c < pixels.channels; ++c) {
        mix_row(view.row(row.before) + c, view.row(row.after) + c, row.share, taps, view.stride,
                to + c * plane);
      }
    }
    for (std::int64_t c = pixels.channels; c < size.channels; ++c) {
      std::copy_n(to, columns.count, to + c * plane);
    }
  }
}

}  // namespace trireme::data::image
