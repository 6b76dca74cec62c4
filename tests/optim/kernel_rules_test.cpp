// Goal:   an update gives bitwise identical results for any division of its elements into calls.
// Method: every length up to a few vectors, cut at every position, compared with one element at a
//         time.

#include <gtest/gtest.h>

#include <vector>

#include "trireme/base/random.h"
#include "trireme/optim/kernel/rules.h"

namespace trireme::optim::kernel {
namespace {

struct Elements {
  explicit Elements(std::size_t count) {
    Random random(7);
    for (std::size_t i = 0; i < count; ++i) {
      value.push_back(static_cast<float>(random.normal()));
      gradient.push_back(static_cast<float>(random.normal()));
      mean.push_back(static_cast<float>(random.normal()));
      square.push_back(random.uniform_float());
      buffer.push_back(static_cast<float>(random.normal()));
    }
  }
  std::vector<float> value, gradient, mean, square, buffer;
};

constexpr AdamNumbers<float> kAdam{.scale = 0.7f,
                                   .decay = 0.999f,
                                   .penalty = 0.01f,
                                   .keep1 = 0.1f,
                                   .beta2 = 0.999f,
                                   .keep2 = 0.001f,
                                   .step_size = 0.013f,
                                   .correction = 1.7f,
                                   .epsilon = 1e-8f};
constexpr SgdNumbers<float> kSgd{
    .scale = 0.7f, .penalty = 0.01f, .momentum = 0.9f, .rate = 0.013f, .is_nesterov = true};

void run_adam(Elements& all, std::size_t begin, std::size_t end) {
  adam(kAdam, &all.value[begin], &all.gradient[begin], &all.mean[begin], &all.square[begin],
       static_cast<std::int64_t>(end - begin));
}

void run_sgd(Elements& all, std::size_t begin, std::size_t end) {
  sgd(kSgd, &all.value[begin], &all.gradient[begin], &all.mean[begin],
      static_cast<std::int64_t>(end - begin));
}

void run_adagrad(Elements& all, std::size_t begin, std::size_t end) {
  adagrad({.scale = 0.7f, .penalty = 0.01f, .rate = 0.013f, .epsilon = 1e-8f}, &all.value[begin],
          &all.gradient[begin], &all.square[begin], static_cast<std::int64_t>(end - begin));
}

void run_rmsprop(Elements& all, std::size_t begin, std::size_t end) {
  const RmspropNumbers<float> numbers{.scale = 0.7f,
                                      .penalty = 0.01f,
                                      .alpha = 0.9f,
                                      .keep = 0.1f,
                                      .momentum = 0.5f,
                                      .rate = 0.013f,
                                      .epsilon = 1e-3f};
  rmsprop(numbers, &all.value[begin], &all.gradient[begin],
          {.square = &all.square[begin], .mean = &all.mean[begin], .buffer = &all.buffer[begin]},
          static_cast<std::int64_t>(end - begin));
}

void run_lion(Elements& all, std::size_t begin, std::size_t end) {
  const LionNumbers<float> numbers{.scale = 0.7f,
                                   .decay = 0.999f,
                                   .beta1 = 0.9f,
                                   .keep1 = 0.1f,
                                   .beta2 = 0.99f,
                                   .keep2 = 0.01f,
                                   .rate = 0.013f};
  lion(numbers, &all.value[begin], &all.gradient[begin], &all.mean[begin],
       static_cast<std::int64_t>(end - begin));
}

template <class Run>
void expect_same_bits(const Run& run) {
  constexpr std::size_t kCount = 67;
  Elements single(kCount);
  for (std::size_t i = 0; i < kCount; ++i) run(single, i, i + 1);
  for (std::size_t cut = 1; cut < kCount; ++cut) {
    Elements parts(kCount);
    run(parts, 0, cut);
    run(parts, cut, kCount);
    EXPECT_EQ(parts.value, single.value) << "cut at " << cut;
    EXPECT_EQ(parts.mean, single.mean) << "cut at " << cut;
    EXPECT_EQ(parts.square, single.square) << "cut at " << cut;
    EXPECT_EQ(parts.buffer, single.buffer) << "cut at " << cut;
  }
}

TEST(KernelRules, AdamHasTheSameBitsForEveryCut) {
  expect_same_bits(run_adam);
}

TEST(KernelRules, SgdHasTheSameBitsForEveryCut) {
  expect_same_bits(run_sgd);
}

TEST(KernelRules, TheOthersHaveTheSameBitsForEveryCut) {
  expect_same_bits(run_adagrad);
  expect_same_bits(run_rmsprop);
  expect_same_bits(run_lion);
}

}  // namespace
}  // namespace trireme::optim::kernel
