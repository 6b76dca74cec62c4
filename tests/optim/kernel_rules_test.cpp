// Goal:   an update gives bitwise identical results for any division of its elements into calls.
// Method: every length up to a few vectors, cut at every position, compared with one element at a
//         time.

#include <gtest/gtest.h>

#include <vector>

#include "trireme/base/random.h"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/kernel/update.h"

namespace trireme::optim::kernel {
namespace {

struct Memory {
  explicit Memory(std::size_t count) {
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

// Applies a rule with these states to a range of elements.
template <class Rule>
auto run_of(const Rule& rule, std::vector<std::vector<float> Memory::*> states) {
  return [rule, states](Memory& all, std::size_t begin, std::size_t end) {
    Elements<float> elements{all.value.data(), all.gradient.data()};
    for (std::size_t i = 0; i < states.size(); ++i) elements.state[i] = (all.*states[i]).data();
    update(rule, elements.from(static_cast<std::int64_t>(begin)),
           static_cast<std::int64_t>(end - begin));
  };
}

template <class Run>
void expect_same_bits(const Run& run) {
  constexpr std::size_t kCount = 67;
  Memory single(kCount);
  for (std::size_t i = 0; i < kCount; ++i) run(single, i, i + 1);
  for (std::size_t cut = 1; cut < kCount; ++cut) {
    Memory parts(kCount);
    run(parts, 0, cut);
    run(parts, cut, kCount);
    EXPECT_EQ(parts.value, single.value) << "cut at " << cut;
    EXPECT_EQ(parts.mean, single.mean) << "cut at " << cut;
    EXPECT_EQ(parts.square, single.square) << "cut at " << cut;
    EXPECT_EQ(parts.buffer, single.buffer) << "cut at " << cut;
  }
}

TEST(KernelRules, AdamHasTheSameBitsForEveryCut) {
  expect_same_bits(run_of(AdamUpdate<float>{.scale = 0.7f,
                                            .decay = 0.999f,
                                            .penalty = 0.01f,
                                            .keep1 = 0.1f,
                                            .beta2 = 0.999f,
                                            .keep2 = 0.001f,
                                            .step_size = 0.013f,
                                            .correction = 1.7f,
                                            .epsilon = 1e-8f},
                          {&Memory::mean, &Memory::square}));
}

TEST(KernelRules, SgdHasTheSameBitsForEveryCut) {
  expect_same_bits(run_of(PlainSgd<float>{.scale = 0.7f, .penalty = 0.01f, .rate = 0.013f}, {}));
  expect_same_bits(run_of(
      SgdUpdate<float>{
          .scale = 0.7f, .penalty = 0.01f, .momentum = 0.9f, .rate = 0.013f, .is_nesterov = true},
      {&Memory::mean}));
}

TEST(KernelRules, AdagradAndLionHaveTheSameBitsForEveryCut) {
  expect_same_bits(run_of(
      AdagradUpdate<float>{.scale = 0.7f, .penalty = 0.01f, .rate = 0.013f, .epsilon = 1e-8f},
      {&Memory::square}));
  expect_same_bits(run_of(LionUpdate<float>{.scale = 0.7f,
                                            .decay = 0.999f,
                                            .beta1 = 0.9f,
                                            .keep1 = 0.1f,
                                            .beta2 = 0.99f,
                                            .keep2 = 0.01f,
                                            .rate = 0.013f},
                          {&Memory::mean}));
}

template <bool kIsCentered, bool kHasMomentum>
RmspropUpdate<float, kIsCentered, kHasMomentum> rmsprop() {
  return {.scale = 0.7f,
          .penalty = 0.01f,
          .alpha = 0.9f,
          .keep = 0.1f,
          .momentum = 0.5f,
          .rate = 0.013f,
          .epsilon = 1e-3f};
}

TEST(KernelRules, RmspropHasTheSameBitsForEveryCut) {
  expect_same_bits(run_of(rmsprop<false, false>(), {&Memory::square}));
  expect_same_bits(run_of(rmsprop<true, false>(), {&Memory::square, &Memory::mean}));
  expect_same_bits(run_of(rmsprop<false, true>(), {&Memory::square, &Memory::buffer}));
  expect_same_bits(
      run_of(rmsprop<true, true>(), {&Memory::square, &Memory::mean, &Memory::buffer}));
}

}  // namespace
}  // namespace trireme::optim::kernel
