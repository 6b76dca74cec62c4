// Goal:   images are rotated, coloured, cut and mixed like in other libraries, according to their
//         key.
// Method: torch's affine_grid and grid_sample; torchvision's formulas written out; class
//         proportions are compared with the pasted areas.

#include "trireme/data/transform/augment.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/data/memory/tensor_source.h"
#include "trireme/data/transform/affine.h"
#include "trireme/data/transform/colour.h"
#include "trireme/data/transform/mixed_source.h"
#include "trireme/data/transform/sample_random.h"
#include "trireme/data/transform/transformed_source.h"

namespace trireme::data::transform {
namespace {

constexpr ImageSize kSize{3, 7, 5};

at::Tensor picture() {
  torch::manual_seed(3);
  return torch::rand({3, 7, 5});
}

template <class Change>
at::Tensor changed(const at::Tensor& image, const Change& change) {
  at::Tensor copy = image.clone();
  change(copy.mutable_data_ptr<float>());
  return copy;
}

TEST(WarpedImages, AreThoseOfGridSample) {
  const at::Tensor image = picture();
  for (const Affine& affine :
       {Affine::turned(30), Affine::scaled(1.3).after(Affine::turned(-77)), Affine::moved(1.25, -2),
        Affine::slanted(0.2, 0), Affine::slanted(0, -0.3).after(Affine::moved(3, 1)), Affine{}}) {
    const at::Tensor ours = torch::empty_like(image);
    warp(image.const_data_ptr<float>(), ours.mutable_data_ptr<float>(), kSize, affine);
    // torch's coordinates range from -1 to 1 over the width and the height.
    const float w = 5, h = 7;
    const at::Tensor theta = torch::tensor({{affine.xx, affine.xy * h / w, 2 * affine.x / w},
                                            {affine.yx * w / h, affine.yy, 2 * affine.y / h}})
                                 .unsqueeze(0);
    const at::Tensor grid = at::affine_grid_generator(theta, {1, 3, 7, 5}, false);
    const at::Tensor theirs = at::grid_sampler(image.unsqueeze(0), grid, 0, 0, false).squeeze(0);
    EXPECT_TRUE(ours.allclose(theirs, 1e-3, 1e-5));
  }
  // A quarter turn to the left: the right side becomes the top.
  at::Tensor dot = torch::zeros({1, 3, 3});
  dot[0][1][2] = 1;
  const at::Tensor turned = torch::empty_like(dot);
  warp(dot.const_data_ptr<float>(), turned.mutable_data_ptr<float>(), {1, 3, 3},
       Affine::turned(90));
  EXPECT_NEAR(turned[0][0][1].item<float>(), 1, 1e-5);
  EXPECT_TRUE(Affine::turned(0).is_nothing());
}

TEST(ColouredImages, AreBlendsAsInTorchvision) {
  const at::Tensor image = picture();
  const at::Tensor grey = 0.2989 * image[0] + 0.587 * image[1] + 0.114 * image[2];
  const auto blend = [&](const at::Tensor& other, double f) {
    return (f * image + (1 - f) * other).clamp(0, 1);
  };
  for (const float f : {0.0F, 0.4F, 1.0F, 1.7F}) {
    const auto with = [&](auto adjust) {
      return changed(image, [&](float* at) { adjust(at, kSize, f); });
    };
    EXPECT_TRUE(with(adjust_brightness).allclose(blend(torch::zeros({1}), f), 1e-5, 1e-6));
    EXPECT_TRUE(with(adjust_contrast).allclose(blend(grey.mean(), f), 1e-5, 1e-5));
    EXPECT_TRUE(with(adjust_saturation).allclose(blend(grey.unsqueeze(0), f), 1e-5, 1e-6));
    at::Tensor kernel = torch::ones({3, 1, 3, 3}) / 13;
    kernel.select(2, 1).select(2, 1).fill_(5.0 / 13);
    at::Tensor blurred = image.clone();
    blurred.slice(1, 1, 6).slice(2, 1, 4).copy_(
        torch::nn::functional::conv2d(image.unsqueeze(0), kernel,
                                      torch::nn::functional::Conv2dFuncOptions().groups(3))
            .squeeze(0));
    EXPECT_TRUE(with(adjust_sharpness).allclose(blend(blurred, f), 1e-5, 1e-5));
  }
}

// The hue as the angle of a colour in the plane perpendicular to grey, computed with the arc
// tangent.
double hue_of(const at::Tensor& pixel) {
  const double r = pixel[0].item<double>(), g = pixel[1].item<double>(),
               b = pixel[2].item<double>();
  const double most = std::max({r, g, b}), least = std::min({r, g, b}), c = most - least;
  if (most == r) return std::fmod((g - b) / c + 6, 6) / 6;
  return most == g ? ((b - r) / c + 2) / 6 : ((r - g) / c + 4) / 6;
}

TEST(ColouredImages, AreTurnedAlongTheHues) {
  const at::Tensor image = picture();
  const auto turned = [&](const at::Tensor& from, float turn) {
    return changed(from, [&](float* at) { adjust_hue(at, kSize, turn); });
  };
  // A third of the circle moves every channel to the next.
  EXPECT_TRUE(turned(image, 1.0F / 3).allclose(image.roll(1, 0), 1e-4, 1e-5));
  EXPECT_TRUE(turned(image, -1.0F / 3).allclose(image.roll(-1, 0), 1e-4, 1e-5));
  EXPECT_TRUE(turned(image, 0).allclose(image, 1e-4, 1e-5));
  for (const float turn : {0.1F, -0.25F, 0.5F}) {
    const at::Tensor other = turned(image, turn);
    for (std::int64_t y = 0; y < 7; ++y) {
      const at::Tensor was = image.select(1, y).select(1, 2), is = other.select(1, y).select(1, 2);
      const double moved = hue_of(is) - hue_of(was) - turn;
      EXPECT_NEAR(moved - std::round(moved), 0, 1e-3);
      EXPECT_NEAR(is.max().item<float>(), was.max().item<float>(), 1e-5);
      EXPECT_NEAR(is.min().item<float>(), was.min().item<float>(), 1e-5);
    }
  }
  const at::Tensor grey = torch::full({3, 7, 5}, 0.4F), black = torch::zeros({3, 7, 5});
  EXPECT_TRUE(turned(grey, 0.3F).equal(grey));
  EXPECT_TRUE(turned(black, 0.3F).equal(black));
}

TEST(ColouredImages, HaveFewerOrOtherLevels) {
  const at::Tensor bytes = torch::tensor({0, 1, 127, 128, 200, 255}, torch::kFloat);
  const at::Tensor row = bytes / 255;
  const ImageSize size{1, 1, 6};
  const auto levels = [&](auto change) { return (changed(row, change) * 255).round(); };
  EXPECT_TRUE(levels([&](float* at) {
                posterize(at, size, 2);
              }).equal(torch::tensor({0, 0, 64, 128, 192, 192}, torch::kFloat)));
  EXPECT_TRUE(levels([&](float* at) {
                solarize(at, size, 128.0F / 255);
              }).equal(torch::tensor({0, 1, 127, 127, 55, 0}, torch::kFloat)));
  const at::Tensor dull = changed(row * 0.5 + 0.25, [&](float* at) { autocontrast(at, size); });
  EXPECT_TRUE(dull.allclose(row, 1e-4, 1e-5));
  EXPECT_TRUE(changed(row * 0, [&](float* at) { autocontrast(at, size); }).equal(row * 0));
  // The same number of pixels at each of four levels: they are spread from 0 to 255.
  const at::Tensor even = torch::arange(4).repeat_interleave(255).to(torch::kFloat) / 255;
  const at::Tensor spread = changed(even, [](float* at) { equalize(at, {1, 4, 255}); }) * 255;
  EXPECT_TRUE(
      spread.view({4, 255}).select(1, 0).allclose(torch::tensor({0.0F, 85.0F, 170.0F, 255.0F})));
  const at::Tensor cut =
      changed(torch::ones({1, 4, 4}), [](float* at) { cut_out(at, {1, 4, 4}, 2, 0, 3); });
  EXPECT_EQ(cut.sum().item<float>(), 14);
}

TEST(AugmentedImages, AreDrawnFromTheirKey) {
  const TransformConfig config{.rotate = 20,
                               .zoom = 0.2,
                               .brightness = 0.3,
                               .contrast = 0.3,
                               .saturation = 0.3,
                               .hue = 0.1,
                               .randaugment = 2,
                               .cutout = 3};
  ASSERT_TRUE(config.is_augmented() && !config.is_nothing());
  const auto of = [&](std::int64_t sample, std::int64_t epoch) {
    return changed(picture(), [&](float* at) {
      Random random = random_of({.seed = 1, .epoch = epoch, .sample = sample}, 7);
      augment(at, kSize, config, random);
    });
  };
  EXPECT_TRUE(of(4, 2).equal(of(4, 2)));
  EXPECT_FALSE(of(4, 2).equal(of(4, 3)));
  EXPECT_FALSE(of(4, 2).equal(of(5, 2)));
  for (int i = 0; i < kRandOperations; ++i) {
    for (const bool is_reversed : {false, true}) {
      const at::Tensor image = changed(picture(), [&](float* at) {
        run_operation(static_cast<RandOperation>(i), kMagnitudeMax, is_reversed, at, kSize);
      });
      EXPECT_TRUE(image.ge(0).logical_and(image.le(1)).all().item<bool>()) << i;
    }
  }
}

// Images with one constant value each, which is their class.
std::shared_ptr<const Source> plain_pictures() {
  const at::Tensor labels = torch::arange(4);
  return std::make_shared<memory::TensorSource>(
      labels.to(torch::kFloat).view({4, 1, 1, 1}).expand({4, 1, 6, 6}).contiguous(), labels,
      memory::TensorSource::Options{.classes = 4});
}

TEST(MixedImages, HaveTheSharesOfTheirClasses) {
  const auto source = plain_pictures();
  for (const TransformConfig& config : {TransformConfig{.mixup = 1}, TransformConfig{.cutmix = 1},
                                        TransformConfig{.mixup = 0.2, .cutmix = 1}}) {
    const auto all = mixed(source, config);
    ASSERT_EQ(all->form().target_sizes, std::vector<std::int64_t>{4});
    int uneven = 0;
    for (std::int64_t i = 0; i < 40; ++i) {
      at::Tensor image = torch::empty({36}), shares = torch::empty({4}), again = torch::empty({36});
      const SampleKey key{.seed = 9, .epoch = i, .sample = i % 4};
      all->read(i % 4, key, image.data_ptr(), shares.data_ptr());
      all->read(i % 4, key, again.data_ptr(), shares.data_ptr());
      EXPECT_TRUE(image.equal(again));
      EXPECT_NEAR(shares.sum().item<float>(), 1, 1e-5);
      const double mean = (shares * torch::arange(4)).sum().item<double>();
      EXPECT_NEAR(image.mean().item<double>(), mean, 1e-4);
      uneven += shares.max().item<float>() < 0.999 ? 1 : 0;
    }
    EXPECT_GT(uneven, 5);
  }
  EXPECT_EQ(mixed(source, {}), source);
  const auto rows = std::make_shared<memory::TensorSource>(torch::ones({2, 3}), torch::arange(2));
  EXPECT_THROW(mixed(rows, {.mixup = 1}), Error);
}

TEST(MixedImages, DrawSharesFromBeta) {
  Random random(1);
  for (const double alpha : {0.2, 1.0, 5.0}) {
    double sum = 0, squares = 0;
    for (int i = 0; i < 4000; ++i) {
      const double x = draw_beta(alpha, random);
      ASSERT_TRUE(x >= 0 && x <= 1);
      sum += x;
      squares += (x - 0.5) * (x - 0.5);
    }
    EXPECT_NEAR(sum / 4000, 0.5, 0.03);
    EXPECT_NEAR(squares / 4000, 0.25 / (2 * alpha + 1), 0.015);
  }
}

}  // namespace
}  // namespace trireme::data::transform
