// Goal:   optimizers do not change gradients, give bitwise identical results for any cut of slices
//         on the grid, and apply a scale as if gradients had been multiplied; clipping computes
//         norms and scales as PyTorch does.
// Method: random slices, cut in pieces; norms computed by hand.

#include "trireme/optim/optimizer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "trireme/base/error.h"
#include "trireme/optim/averaged.h"
#include "trireme/optim/clip.h"
#include "trireme/optim/rule/adafactor.h"
#include "trireme/optim/rule/adagrad.h"
#include "trireme/optim/rule/adam.h"
#include "trireme/optim/rule/gradual.h"
#include "trireme/optim/rule/lamb.h"
#include "trireme/optim/rule/lars.h"
#include "trireme/optim/rule/lion.h"
#include "trireme/optim/rule/muon.h"
#include "trireme/optim/rule/rmsprop.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/optim/run_slices.h"
#include "trireme/optim/slice.h"

namespace trireme::optim {
namespace {

Slice make_slice(std::int64_t count, std::size_t states, at::ScalarType type = at::kFloat) {
  torch::manual_seed(3);
  Slice slice{.value = torch::randn({count}, type),
              .gradient = torch::randn({count}, type),
              .state = {},
              .learning_rate = 0.01,
              .weight_decay = 0.1};
  for (std::size_t i = 0; i < states; ++i) slice.state.push_back(torch::zeros({count}, type));
  return slice;
}

Slice cut(const Slice& whole, std::int64_t begin, std::int64_t end) {
  Slice part = whole;
  part.value = whole.value.slice(0, begin, end);
  part.gradient = whole.gradient.slice(0, begin, end);
  for (at::Tensor& state : part.state) state = state.slice(0, begin, end);
  return part;
}

std::vector<std::shared_ptr<Optimizer>> all_rules() {
  return {std::make_shared<Sgd>(SgdConfig{.momentum = 0}),
          std::make_shared<Sgd>(SgdConfig{.momentum = 0.9}),
          std::make_shared<Sgd>(SgdConfig{.momentum = 0.9, .nesterov = true}),
          std::make_shared<Adam>(AdamConfig{}),
          std::make_shared<Adam>(AdamwConfig{}),
          std::make_shared<Adagrad>(AdagradConfig{}),
          std::make_shared<Rmsprop>(RmspropConfig{.momentum = 0.9, .centered = true}),
          std::make_shared<Lion>(LionConfig{}),
          std::make_shared<Averaged>(std::make_unique<Sgd>(SgdConfig{}), EmaConfig{})};
}

std::vector<std::shared_ptr<Optimizer>> whole_rules() {
  return {std::make_shared<Lamb>(LambConfig{}), std::make_shared<Lars>(LarsConfig{}),
          std::make_shared<Adafactor>(AdafactorConfig{}), std::make_shared<Muon>(MuonConfig{})};
}

TEST(Optimizer, CutsOnTheGridGiveTheSameBits) {
  for (const auto& rule : all_rules()) {
    for (const double scale : {1.0, 0.3}) {
      const std::size_t states = rule->state_names().size();
      Slice whole = make_slice(1009, states), cuts = make_slice(1009, states);
      const at::Tensor gradient = whole.gradient.clone();
      for (std::int64_t step = 1; step <= 3; ++step) {
        rule->update({&whole, 1}, step, scale);
        const std::int64_t one = kSliceGrid, many = 7 * kSliceGrid;
        const std::vector<Slice> parts = {cut(cuts, 0, one), cut(cuts, one, one),
                                          cut(cuts, one, many), cut(cuts, many, 1009)};
        rule->update(parts, step, scale);
      }
      EXPECT_TRUE(whole.value.equal(cuts.value));
      EXPECT_TRUE(whole.gradient.equal(gradient));
      EXPECT_FALSE(whole.value.equal(make_slice(1009, states).value));
    }
  }
}

// The values and each state of a slice.
std::vector<at::Tensor> parts_of(const Slice& slice) {
  std::vector<at::Tensor> all{slice.value};
  all.insert(all.end(), slice.state.begin(), slice.state.end());
  return all;
}

std::vector<at::Tensor> copies_of(const Slice& slice) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& part : parts_of(slice)) all.push_back(part.clone());
  return all;
}

// Checks that all elements of earlier calls have changed, and no others.
class Watcher final : public Guard {
 public:
  Watcher(const Slice& slice, std::vector<at::Tensor> after)
      : slice_(slice), before_(copies_of(slice)), after_(std::move(after)) {}

  void before(const Slice& slice, std::int64_t begin, std::int64_t count) override {
    EXPECT_EQ(slice.value.data_ptr(), slice_.value.data_ptr());
    EXPECT_EQ(begin, end);
    EXPECT_GT(count, 0);
    const std::vector<at::Tensor> now = parts_of(slice_);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::int64_t left = now[i].numel() - begin;
      EXPECT_TRUE(now[i].narrow(0, begin, left).equal(before_[i].narrow(0, begin, left)));
      EXPECT_TRUE(now[i].narrow(0, 0, begin).equal(after_[i].narrow(0, 0, begin)));
    }
    end += count;
    longest = std::max(longest, count);
  }

  std::int64_t end = 0, longest = 0;

 private:
  const Slice& slice_;
  std::vector<at::Tensor> before_, after_;
};

TEST(Optimizer, AGuardSeesEveryRunBeforeItChanges) {
  std::vector<std::shared_ptr<Optimizer>> rules = all_rules();
  for (const auto& rule : whole_rules()) rules.push_back(rule);
  rules.push_back(std::make_shared<Gradual>(std::make_shared<Adam>(AdamConfig{})));
  rules.push_back(std::make_shared<Averaged>(std::make_unique<Lamb>(LambConfig{}), EmaConfig{}));
  for (const auto& rule : rules) {
    const std::size_t states = rule->state_names().size();
    for (const std::int64_t count : {0, 1, 255, 256, 257, (1 << 15) + 1}) {
      for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
        Slice guarded = make_slice(count, states, type), alone = make_slice(count, states, type);
        guarded.sizes = alone.sizes = {count, 1};
        rule->update({&alone, 1}, 3, 0.5);
        Watcher watcher(guarded, copies_of(alone));
        rule->update({&guarded, 1}, 3, 0.5, &watcher);
        EXPECT_EQ(watcher.end, count);
        EXPECT_TRUE(rule->grain() != Grain::Element || watcher.longest <= kRunMax);
        for (std::size_t i = 0; i <= states; ++i) {
          EXPECT_TRUE(parts_of(guarded)[i].equal(parts_of(alone)[i]));
        }
      }
    }
  }
}

// The guard is also called for parameters that are still frozen, so that it can count all elements.
TEST(Optimizer, AGuardSeesWhatStaysAsItIs) {
  const Gradual rule(std::make_shared<Adam>(AdamConfig{}));
  Slice frozen = make_slice(100, 2);
  frozen.first_step = 9;
  Watcher watcher(frozen, copies_of(frozen));
  rule.update({&frozen, 1}, 3, 0.5, &watcher);
  EXPECT_EQ(watcher.end, 100);
}

TEST(Optimizer, AScaleIsAMultipleOfTheGradient) {
  constexpr std::int64_t kCount = (1 << 18) + 3;  // more than one scaled copy
  for (const auto& rule : all_rules()) {
    Slice scaled = make_slice(kCount, rule->state_names().size());
    Slice multiplied = make_slice(kCount, rule->state_names().size());
    multiplied.gradient.mul_(0.25);
    rule->update({&scaled, 1}, 1, 0.25);
    rule->update({&multiplied, 1}, 1);
    EXPECT_TRUE(scaled.value.equal(multiplied.value));
  }
}

TEST(Optimizer, WholeRulesTakeScalesAndRefusePieces) {
  for (const auto& rule : whole_rules()) {
    EXPECT_EQ(rule->grain(), Grain::WholeTensor);
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{7, 5}, {35}, {1, 35}, {35, 1}, {7, 5, 1, 1}}) {
      Slice scaled = make_slice(35, rule->state_names().size());
      scaled.sizes = sizes;
      Slice multiplied = make_slice(35, rule->state_names().size());
      multiplied.sizes = sizes;
      multiplied.gradient.mul_(0.25);
      const at::Tensor gradient = scaled.gradient.clone();
      rule->update({&scaled, 1}, 1, 0.25);
      rule->update({&multiplied, 1}, 1);
      EXPECT_TRUE(scaled.value.allclose(multiplied.value, 1e-6, 1e-7));
      EXPECT_TRUE(scaled.gradient.equal(gradient));
      EXPECT_FALSE(scaled.value.equal(make_slice(35, 0).value));
      scaled.sizes = {7, 6};
      EXPECT_THROW(rule->update({&scaled, 1}, 1), Error);
    }
    Slice empty = make_slice(0, rule->state_names().size());
    empty.sizes = {0, 5};
    rule->update({&empty, 1}, 1);
  }
}

TEST(Optimizer, MuonLeavesTablesAndVectorsToAdamw) {
  const Muon muon{MuonConfig{}};
  const Adam adam{AdamwConfig{.betas = {0.9, 0.95}}};
  Slice theirs = make_slice(35, 2);
  adam.update({&theirs, 1}, 1);
  for (const auto& [name, sizes] : std::vector<std::pair<std::string, std::vector<std::int64_t>>>{
           {"bias", {35}}, {"transformer.wte.weight", {7, 5}}, {"h.0.weight", {7, 5}}}) {
    Slice mine = make_slice(35, 2);
    mine.sizes = sizes;
    mine.name = name;
    muon.update({&mine, 1}, 1);
    EXPECT_EQ(mine.value.equal(theirs.value), name != "h.0.weight") << name;
  }
}

// The average of a parameter that is updated late, or never, contains only its own values.
TEST(Optimizer, AMeanOfWeightsBeginsWithTheWeights) {
  const Averaged rule(std::make_unique<Sgd>(SgdConfig{.momentum = 0}), EmaConfig{.decay = 0.5});
  Slice slice = make_slice(5, 1);
  const at::Tensor before = slice.value.clone();
  rule.update({&slice, 1}, 10);
  const at::Tensor mean = slice.value + slice.state[0];
  EXPECT_TRUE(mean.allclose((before + slice.value) / 2));
  EXPECT_EQ(rule.state_names(), std::vector<std::string>{kAverageLag});
}

TEST(Optimizer, SlicesKeepTheirOwnRates) {
  const Adam rule{AdamwConfig{}};
  std::vector<Slice> slices = {make_slice(5, 2), make_slice(5, 2), make_slice(5, 2),
                               make_slice(5, 2, at::kDouble)};
  slices[1].learning_rate = 0;
  slices[1].weight_decay = 0.1;
  slices[2].weight_decay = 0;
  rule.update(slices, 1);
  const at::Tensor before = make_slice(5, 2).value;
  EXPECT_TRUE(slices[1].value.equal(before));
  EXPECT_LT((slices[2].value - before).abs().max().item<float>(), 0.01001);
  EXPECT_TRUE((slices[0].value - slices[2].value).allclose(-0.01 * 0.1 * before, 1e-3, 1e-6));
  EXPECT_FALSE(slices[3].value.equal(make_slice(5, 2, at::kDouble).value));
}

TEST(Optimizer, RefusesSlicesThatDoNotMatch) {
  const Adam rule{AdamConfig{}};
  Slice slice = make_slice(4, 2);
  EXPECT_THROW(rule.update({&slice, 1}, 0), Error);
  slice.gradient = torch::zeros({5});
  EXPECT_THROW(rule.update({&slice, 1}, 1), Error);
  slice = make_slice(4, 1);
  EXPECT_THROW(rule.update({&slice, 1}, 1), Error);
  slice = make_slice(4, 2);
  slice.gradient = slice.gradient.to(at::kDouble);
  EXPECT_THROW(rule.update({&slice, 1}, 1), Error);
  rule.update({}, 1);
  EXPECT_THROW(Sgd({.momentum = 0, .nesterov = true}), Error);
}

TEST(OptimClip, NormsAreExactAndFindWhatIsNotFinite) {
  Slice slice = make_slice(0, 0);
  EXPECT_EQ(squared_norm({&slice, 1}), 0);
  for (const std::int64_t count : {1, 7, 8, 9, 100003}) {
    EXPECT_EQ(squared_norm(torch::full({count}, 2.0f)), 4.0 * static_cast<double>(count));
  }
  EXPECT_EQ(squared_norm(torch::full({9}, 0.5, at::kBFloat16)), 2.25);
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    at::Tensor values = torch::zeros({70000});
    values[69999] = wrong;
    EXPECT_FALSE(std::isfinite(squared_norm(values)));
  }
  const at::Tensor values = torch::randn({200001});
  at::set_num_threads(1);
  const double one = squared_norm(values);
  at::set_num_threads(2);
  EXPECT_EQ(squared_norm(values), one);
  at::set_num_threads(1);
}

TEST(OptimClip, ShortensThroughTheReducer) {
  Slice slice = make_slice(2, 0);
  slice.gradient = torch::tensor({3.0f, 0.0f});
  const auto other_rank = [](double mine) { return mine + 16.0; };
  Clipped clipped = clip_by_norm({&slice, 1}, 1.0, 2.0, other_rank);
  EXPECT_EQ(clipped.norm, 10);
  EXPECT_NEAR(clipped.scale, 0.2, 1e-6);
  clipped = clip_by_norm({&slice, 1}, 100.0, 2.0, other_rank);
  EXPECT_EQ(clipped.scale, 2);
  EXPECT_EQ(clip_by_norm({&slice, 1}, 0, 1).scale, 1);
  EXPECT_FALSE(std::isfinite(clip_by_norm(std::nan(""), 1).norm));
}

TEST(OptimClip, CutsValuesOff) {
  Slice slice = make_slice(3, 0);
  slice.gradient = torch::tensor({-8.0f, 1.0f, 5.0f});
  clip_by_value({&slice, 1}, 1.0, 0.25);
  EXPECT_TRUE(slice.gradient.equal(torch::tensor({-4.0f, 1.0f, 4.0f})));
}

}  // namespace
}  // namespace trireme::optim
