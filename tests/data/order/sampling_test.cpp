// Goal:   balancing, stratifying and splitting depend only on (seed, epoch, index) and drop and
//         repeat only the samples that they should.
// Method: every sample of small sources with known labels, over several epochs, compared with
//         counts.

#include "trireme/data/order/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "trireme/base/error.h"
#include "trireme/data/labels.h"
#include "trireme/data/memory/tensor_source.h"
#include "trireme/data/source/subset_source.h"
#include "trireme/testing/code_of.h"

namespace trireme::data {
namespace {

using testing::code_of;
using ::testing::ElementsAre;

// 1, 7 and 30 samples of three classes, mixed; a fourth class has none. The input is the sample's
// number.
std::shared_ptr<const Source> uneven() {
  std::vector<std::int64_t> labels(38, 2);
  labels[5] = 0;
  for (int i = 0; i < 7; ++i) labels[static_cast<std::size_t>(5 * i + 3)] = 1;
  const at::Tensor y = at::tensor(at::ArrayRef<std::int64_t>(labels), at::kLong);
  return std::make_shared<memory::TensorSource>(at::arange(38, at::kFloat).unsqueeze(1), y,
                                                memory::TensorSource::Options{.classes = 4});
}

struct Read {
  float number = 0;
  std::int64_t label = 0;
};

Read read_one(const Source& source, std::int64_t sample, std::int64_t epoch = 0) {
  Read got;
  source.read(sample, {.seed = 3, .epoch = epoch, .sample = sample}, &got.number, &got.label);
  std::int64_t alone = -1;
  source.read_target(sample, &alone);
  EXPECT_EQ(alone, got.label);
  return got;
}

TEST(ClassLabels, AreCountedAndWeighted) {
  const auto source = uneven();
  const std::vector<std::int64_t> counts = count_labels(labels_of(*source, "x"), 4);
  EXPECT_THAT(counts, ElementsAre(1, 7, 30, 0));
  const std::vector<double> weights = balanced_weights(counts);
  EXPECT_DOUBLE_EQ(weights[0], 38.0 / 3);
  EXPECT_DOUBLE_EQ(weights[1] * 7, weights[2] * 30);
  EXPECT_EQ(weights[3], 0);
}

TEST(BalancedSamples, ComeAgainOrTakeTurns) {
  const auto whole = resampled(uneven(), {.balance = ClassBalance::Over}, true);
  const Source& over = *whole;
  ASSERT_EQ(over.count(), 90);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::map<float, int> times;
    std::map<std::int64_t, int> of_class;
    for (std::int64_t i = 0; i < over.count(); ++i) {
      const Read one = read_one(over, i, epoch);
      ++times[one.number];
      ++of_class[one.label];
    }
    EXPECT_EQ(times.size(), 38U);
    for (const auto& [label, count] : of_class) EXPECT_EQ(count, 30) << label;
    for (const auto& [number, count] : times) {
      EXPECT_TRUE(count == 1 || count == 4 || count == 5 || count == 30) << number << count;
    }
  }
  const auto part = resampled(uneven(), {.balance = ClassBalance::Under}, true);
  const Source& under = *part;
  ASSERT_EQ(under.count(), 3);
  std::set<float> seen;
  for (std::int64_t epoch = 0; epoch < 40; ++epoch) seen.insert(read_one(under, 2, epoch).number);
  EXPECT_GT(seen.size(), 15U);
}

TEST(StratifiedSamples, ComeOnceAndEvenly) {
  const auto shuffled = resampled(uneven(), {.is_stratified = true}, true);
  const Source& source = *shuffled;
  std::vector<float> first, second;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    std::set<float> seen;
    for (std::int64_t i = 0; i < source.count(); ++i) {
      seen.insert(read_one(source, i, epoch).number);
      (epoch == 0 ? first : second).push_back(read_one(source, i, epoch).number);
    }
    EXPECT_EQ(seen.size(), 38U);
  }
  EXPECT_NE(first, second);
  for (std::int64_t begin = 0; begin + 19 <= source.count(); ++begin) {
    std::vector<double> counts(4);
    for (std::int64_t i = begin; i < begin + 19; ++i) {
      ++counts[static_cast<std::size_t>(read_one(source, i).label)];
    }
    EXPECT_NEAR(counts[1], 3.5, 2);
    EXPECT_NEAR(counts[2], 15, 2);
  }
  const auto plain = resampled(uneven(), {.is_stratified = true}, false);
  EXPECT_EQ(read_one(*plain, 0).number, read_one(*plain, 0, 1).number);
}

TEST(DividedSamples, ArePartsOfTheWhole) {
  std::multiset<float> tested;
  for (int fold = 0; fold < 5; ++fold) {
    const Sets sets = divided({.train = uneven()}, {.folds = 5, .fold = fold});
    std::set<float> here;
    for (std::int64_t i = 0; i < sets.test->count(); ++i) {
      tested.insert(read_one(*sets.test, i).number);
      here.insert(read_one(*sets.test, i).number);
    }
    for (std::int64_t i = 0; i < sets.train->count(); ++i) {
      EXPECT_FALSE(here.contains(read_one(*sets.train, i).number));
    }
    EXPECT_EQ(sets.train->count() + sets.test->count(), 38);
    const auto counts = count_labels(labels_of(*sets.test, "x"), 4);
    EXPECT_EQ(counts[2], 6);
    EXPECT_NEAR(static_cast<double>(counts[1]), 1.4, 0.7);
  }
  EXPECT_EQ(tested.size(), 38U);
  EXPECT_EQ(std::set<float>(tested.begin(), tested.end()).size(), 38U);
}

TEST(DividedSamples, AreEvaluatedAsTheyAre) {
  const at::Tensor zeros = at::zeros({38, 1});
  const auto plain = std::make_shared<memory::TensorSource>(
      zeros, at::ones({38}, at::kLong), memory::TensorSource::Options{.classes = 4});
  const Sets sets = divided({.train = uneven(), .plain = plain}, {.folds = 2});
  EXPECT_GT(read_one(*sets.train, 18).number, 0);
  EXPECT_EQ(read_one(*sets.test, 18).number, 0);
}

TEST(DividedSamples, MayBeFewerOfAClass) {
  const Sets sets = divided({.train = uneven(), .test = uneven()}, {.per_class = {0, 2, 3, 9}});
  EXPECT_THAT(count_labels(labels_of(*sets.train, "x"), 4), ElementsAre(0, 2, 3, 0));
  EXPECT_THAT(count_labels(labels_of(*sets.test, "x"), 4), ElementsAre(0, 7, 30, 0));
  const Sets each = divided({.train = uneven()}, {.per_class = {1}});
  EXPECT_EQ(each.train->count(), 3);
  EXPECT_EQ(code_of([] { divided({.train = uneven()}, {.per_class = {1, 2}}); }),
            ErrorCode::InvalidInput);
}

TEST(ResampledSamples, NeedClasses) {
  const auto numbers = std::make_shared<memory::TensorSource>(at::ones({4, 1}), at::ones({4}),
                                                              memory::TensorSource::Options{});
  for (const SamplingConfig& config :
       {SamplingConfig{.balance = ClassBalance::Over}, SamplingConfig{.is_stratified = true}}) {
    EXPECT_EQ(code_of([&] { resampled(numbers, config, true); }), ErrorCode::InvalidInput);
  }
  EXPECT_EQ(divided({.train = numbers}, {.folds = 2}).test->count(), 2);
  const auto both =
      resampled(uneven(), {.balance = ClassBalance::Over, .is_stratified = true}, true);
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 3; ++i) labels.push_back(read_one(*both, i).label);
  EXPECT_THAT(labels, ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace trireme::data
