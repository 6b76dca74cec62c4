// Goal:   synthetic samples depend only on the seed and their number, have the specified form, and
//         can be learned.
// Method: each task is read twice and in another order; the hidden rule is recovered from samples.

#include "trireme/data/memory/synthetic_source.h"

#include <gtest/gtest.h>

#include <set>

#include "trireme/base/error.h"

namespace trireme::data::memory {
namespace {

struct Read {
  std::vector<std::byte> input;
  std::vector<std::byte> target;

  friend bool operator==(const Read&, const Read&) = default;
};

Read read(const Source& source, std::int64_t sample) {
  Read all{std::vector<std::byte>(source.form().input_bytes()),
           std::vector<std::byte>(source.form().target_bytes())};
  source.read(sample, {}, all.input.data(), all.target.data());
  return all;
}

class Synthetic : public ::testing::TestWithParam<SyntheticTask> {};

TEST_P(Synthetic, IsAFunctionOfSeedAndSample) {
  const Sets sets =
      open_synthetic({.task = GetParam(), .count = 20, .test_count = 5, .classes = 1000});
  const Sets again =
      open_synthetic({.task = GetParam(), .count = 20, .test_count = 5, .classes = 1000});
  const Sets other = open_synthetic({.task = GetParam(), .count = 20, .classes = 1000, .seed = 1});
  EXPECT_EQ(sets.train->count(), 20);
  EXPECT_EQ(sets.test->count(), 5);
  for (std::int64_t sample : {19, 0, 7}) {
    EXPECT_EQ(read(*sets.train, sample), read(*again.train, sample));
    EXPECT_NE(read(*sets.train, sample), read(*other.train, sample));
  }
  EXPECT_NE(read(*sets.train, 0), read(*sets.train, 1));
  EXPECT_NE(read(*sets.train, 0), read(*sets.test, 0));
  EXPECT_THROW(read(*sets.train, 20), Error);
}

INSTANTIATE_TEST_SUITE_P(Tasks, Synthetic,
                         ::testing::Values(SyntheticTask::Images, SyntheticTask::Classification,
                                           SyntheticTask::Regression, SyntheticTask::Tokens));

TEST(SyntheticImages, ResembleTheirClass) {
  const SyntheticConfig config{.count = 200, .sizes = {2, 5, 3}, .classes = 4, .noise = 0.1};
  const SyntheticSource source(config, 0, config.count);
  EXPECT_EQ(source.form().input_sizes, (std::vector<std::int64_t>{2, 5, 3}));
  std::vector<std::vector<float>> first(4);
  std::set<std::int64_t> seen;
  for (std::int64_t sample = 0; sample < source.count(); ++sample) {
    std::vector<float> image(30);
    std::int64_t label = -1;
    source.read(sample, {}, image.data(), &label);
    ASSERT_GE(label, 0);
    ASSERT_LT(label, 4);
    seen.insert(label);
    auto& pattern = first[static_cast<std::size_t>(label)];
    if (pattern.empty()) pattern = image;
    for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(image[i], pattern[i], 0.4);
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST(SyntheticTokens, CountRoundAndRound) {
  const SyntheticSource source({.task = SyntheticTask::Tokens, .sizes = {9}, .classes = 5}, 0, 50);
  for (std::int64_t sample = 0; sample < 50; ++sample) {
    std::int64_t input[9];
    std::int64_t target[9];
    source.read(sample, {}, input, target);
    const std::int64_t step = (target[0] - input[0] + 5) % 5;
    for (int i = 0; i < 9; ++i) {
      EXPECT_EQ((target[i] - input[i] + 5) % 5, step);
      if (i > 0) {
        EXPECT_EQ(input[i], target[i - 1]);
      }
    }
  }
}

TEST(SyntheticRegression, WithoutNoiseIsLinear) {
  const SyntheticSource source({.task = SyntheticTask::Regression, .sizes = {1}, .noise = 0}, 0,
                               10);
  EXPECT_EQ(source.form().target_type, at::kFloat);
  float x = 0;
  float y = 0;
  source.read(0, {}, &x, &y);
  const float slope = y / x;
  for (std::int64_t sample = 1; sample < 10; ++sample) {
    source.read(sample, {}, &x, &y);
    EXPECT_NEAR(y, slope * x, 1e-5);
  }
}

}  // namespace
}  // namespace trireme::data::memory
