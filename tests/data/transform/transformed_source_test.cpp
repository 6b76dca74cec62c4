// Goal:   augmentation depends only on seed, epoch and sample; evaluation uses none; sizes are
//         updated; resize equals torch's.
// Method: images of a synthetic source; all shifts and both flips must occur.

#include "trireme/data/transform/transformed_source.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <gtest/gtest.h>

#include <map>

#include "trireme/base/error.h"
#include "trireme/data/memory/synthetic_source.h"
#include "trireme/data/transform/transform_config.h"

namespace trireme::data::transform {
namespace {

std::shared_ptr<const Source> images() {
  return std::make_shared<memory::SyntheticSource>(
      memory::SyntheticConfig{.sizes = {2, 6, 5}, .classes = 3}, 0, 2000);
}

std::vector<float> read(const Source& source, const SampleKey& key) {
  std::vector<float> image(static_cast<std::size_t>(source.form().input_count()));
  std::int64_t label = 0;
  source.read(key.sample, key, image.data(), &label);
  return image;
}

TEST(TransformedSource, DrawsFromTheKeyAlone) {
  const auto source = transformed(images(), {.pad_crop = 2, .is_flipped = true}, Use::Training);
  const SampleKey key{.seed = 1, .epoch = 2, .sample = 3};
  EXPECT_EQ(read(*source, key), read(*source, key));
  int by_seed = 0;
  int by_epoch = 0;
  for (std::int64_t sample = 0; sample < 100; ++sample) {
    const auto image = read(*source, {.seed = 1, .epoch = 2, .sample = sample});
    by_seed += image == read(*source, {.seed = 2, .epoch = 2, .sample = sample}) ? 1 : 0;
    by_epoch += image == read(*source, {.seed = 1, .epoch = 3, .sample = sample}) ? 1 : 0;
  }
  EXPECT_LT(by_seed, 15);  // 2 are expected: one of 50 choices
  EXPECT_LT(by_epoch, 15);
}

TEST(TransformedSource, MakesEveryChoiceEquallyOften) {
  const auto plain = images();
  const auto source = transformed(plain, {.pad_crop = 1, .is_flipped = true}, Use::Training);
  std::map<std::tuple<int, int, int>, int> times;
  const ImageSize size{2, 6, 5};
  for (std::int64_t sample = 0; sample < plain->count(); ++sample) {
    const SampleKey key{.seed = 9, .epoch = 0, .sample = sample};
    const std::vector<float> got = read(*source, key);
    for (int choice = 0; choice < 18; ++choice) {
      std::vector<float> image = read(*plain, key);
      shift(image.data(), size, choice / 6 - 1, choice / 2 % 3 - 1);
      if (choice % 2 == 1) flip(image.data(), size);
      if (image == got) ++times[{choice / 6, choice / 2 % 3, choice % 2}];
    }
  }
  EXPECT_EQ(times.size(), 18U);
  int sum = 0;
  for (const auto& [choice, count] : times) {
    EXPECT_NEAR(count, 2000 / 18.0, 55);  // 5 standard deviations
    sum += count;
  }
  EXPECT_EQ(sum, 2000);
}

TEST(TransformedSource, EvaluationIsNotAugmented) {
  const auto plain = images();
  const TransformConfig config{.pad_crop = 2, .is_flipped = true};
  const auto source = transformed(plain, config, Use::Evaluation);
  for (std::int64_t sample = 0; sample < 20; ++sample) {
    EXPECT_EQ(read(*source, {.sample = sample}), read(*plain, {.sample = sample}));
  }
}

TEST(TransformedSource, ResizesAsTorchDoes) {
  const auto plain = images();
  for (const auto& to : {std::vector<std::int64_t>{6, 5}, {3, 2}, {13, 11}, {1, 1}, {7, 4}}) {
    const auto source = transformed(plain, {.resize = to}, Use::Training);
    EXPECT_EQ(source->form().input_sizes, (std::vector<std::int64_t>{2, to[0], to[1]}));
    std::vector<float> original = read(*plain, {.sample = 5});
    std::vector<float> got = read(*source, {.sample = 5});
    const at::Tensor expected =
        at::upsample_bilinear2d(at::from_blob(original.data(), {1, 2, 6, 5}), to, false);
    const at::Tensor ours = at::from_blob(got.data(), {1, 2, to[0], to[1]});
    EXPECT_TRUE(ours.allclose(expected, 1e-5, 1e-6)) << to[0] << 'x' << to[1];
  }
}

TEST(TransformedSource, NormalizesAfterPadding) {
  const auto source =
      transformed(images(), {.pad_crop = 6, .mean = {1, 1}, .deviation = {2, 2}}, Use::Training);
  int zeros = 0;
  for (std::int64_t sample = 0; sample < 50; ++sample) {
    for (float x : read(*source, {.sample = sample})) zeros += x == -0.5F ? 1 : 0;
  }
  EXPECT_GT(zeros, 100);  // padding is black, not the mean
}

TEST(TransformedSource, RefusesWhatIsNoImage) {
  const auto tokens = std::make_shared<memory::SyntheticSource>(
      memory::SyntheticConfig{.task = memory::SyntheticTask::Tokens}, 0, 10);
  EXPECT_THROW(transformed(tokens, {.is_flipped = true}, Use::Training), Error);
  EXPECT_EQ(transformed(tokens, {}, Use::Training), tokens);
  EXPECT_EQ(transformed(nullptr, {.is_flipped = true}, Use::Training), nullptr);
  EXPECT_THROW(transformed(images(), {.mean = {1}, .deviation = {1}}, Use::Training), Error);
}

}  // namespace
}  // namespace trireme::data::transform
