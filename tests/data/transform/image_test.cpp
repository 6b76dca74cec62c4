// Goal:   each operation on an image does exactly what its name says, also at the edges.
// Method: compared with slow definitions written here; transformed_source_test.cpp compares resize
//         with torch.

#include "trireme/data/transform/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace trireme::data::transform {
namespace {

using ::testing::ElementsAre;

std::vector<float> ramp(ImageSize size) {
  std::vector<float> image(static_cast<std::size_t>(size.count()));
  std::iota(image.begin(), image.end(), 1.0F);
  return image;
}

TEST(Shift, MovesByEveryAmount) {
  const ImageSize size{2, 3, 4};
  const std::vector<float> original = ramp(size);
  for (std::int64_t down = -4; down <= 4; ++down) {
    for (std::int64_t right = -5; right <= 5; ++right) {
      std::vector<float> image = original;
      shift(image.data(), size, down, right);
      for (std::int64_t i = 0; i < size.count(); ++i) {
        const std::int64_t c = i / 12;
        const std::int64_t y = i / 4 % 3 - down;
        const std::int64_t x = i % 4 - right;
        const bool is_inside = y >= 0 && y < 3 && x >= 0 && x < 4;
        const float expected =
            is_inside ? original[static_cast<std::size_t>(c * 12 + y * 4 + x)] : 0.0F;
        ASSERT_EQ(image[static_cast<std::size_t>(i)], expected) << down << ' ' << right << ' ' << i;
      }
    }
  }
}

TEST(Flip, ExchangesLeftAndRight) {
  std::vector<float> image = {1, 2, 3, 4, 5, 6};
  flip(image.data(), {1, 2, 3});
  EXPECT_THAT(image, ElementsAre(3, 2, 1, 6, 5, 4));
}

TEST(Normalize, IsByChannel) {
  std::vector<float> image = {1, 2, 3, 4};
  const float mean[] = {1, 2};
  const float deviation[] = {0.5F, 2};
  normalize(image.data(), {2, 1, 2}, mean, deviation);
  EXPECT_THAT(image, ElementsAre(0, 2, 0.5F, 1));
}

TEST(Standardize, GivesMeanZeroAndDeviationOne) {
  std::vector<float> image = ramp({1, 5, 7});
  standardize(image.data(), {1, 5, 7});
  double sum = 0;
  double squares = 0;
  for (float x : image) {
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum, 0, 1e-4);
  EXPECT_NEAR(squares / 35, 1, 1e-5);
}

TEST(Standardize, LeavesAnEvenImageFinite) {
  std::vector<float> image(9, 0.25F);
  standardize(image.data(), {1, 3, 3});
  for (float x : image) EXPECT_EQ(x, 0.0F);
}

TEST(Resize, OfTheSameSizeChangesNothing) {
  const ImageSize size{2, 3, 5};
  const std::vector<float> from = ramp(size);
  std::vector<float> to(from.size());
  resize(from.data(), size, to.data(), size);
  EXPECT_EQ(from, to);
}

TEST(Resize, OfOnePixelIsFlat) {
  const float from = 7;
  std::vector<float> to(6);
  resize(&from, {1, 1, 1}, to.data(), {1, 2, 3});
  EXPECT_THAT(to, ::testing::Each(7.0F));
}

}  // namespace
}  // namespace trireme::data::transform
