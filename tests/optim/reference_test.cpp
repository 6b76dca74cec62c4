// Goal:   after 100 steps, optimizers and schedules match those of torch.optim, or of the papers;
//         so do averages of weights and the rates of a plateau.
// Method: tests/optim/reference.py writes the results for the same gradients, not fused. Tolerance:
//         1e-5 of the largest value in float32, 1e-12 in float64 (clipped: 2e-6, because the
//         clipping scale is rounded to float32; muon: 1e-3 in both, because it computes in
//         bfloat16, where one different rounding moves an element by 1/256 of a step).

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <chrono>

#include "tests/folders.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/optim/averaged.h"
#include "trireme/optim/clip.h"
#include "trireme/optim/rule/adafactor.h"
#include "trireme/optim/rule/adagrad.h"
#include "trireme/optim/rule/adam.h"
#include "trireme/optim/rule/lamb.h"
#include "trireme/optim/rule/lars.h"
#include "trireme/optim/rule/lion.h"
#include "trireme/optim/rule/muon.h"
#include "trireme/optim/rule/rmsprop.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/optim/schedule/plateau.h"
#include "trireme/optim/schedule/schedule.h"
#include "trireme/testing/command_process.h"

namespace trireme::optim {
namespace {

constexpr std::int64_t kSteps = 100, kCount = 1003;

at::Tensor read(const TemporaryFolder& folder, const std::string& name,
                std::vector<std::int64_t> sizes, at::ScalarType type) {
  const std::string bytes = read_file((folder.path() / (name + ".bin")).string());
  at::Tensor tensor = torch::empty(sizes, type);
  EXPECT_EQ(bytes.size(), tensor.nbytes()) << name;
  if (bytes.size() == tensor.nbytes()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

struct Case {
  std::string name;
  std::shared_ptr<Optimizer> rule;
  Schedule::Options schedule;
  double weight_decay;
  std::vector<std::int64_t> sizes{kCount};
};

using Sizes = std::vector<std::int64_t>;
const Sizes kMatrix{17, 59}, kTall{59, 17}, kVolume{17, 59, 1};

std::vector<Case> whole_cases() {
  using Kind = Schedule::Kind;
  const Schedule::Options constant{.rate = 0.01};
  const Schedule::Options cycle{.kind = Kind::OneCycle,
                                .rate = 0.5,
                                .steps = kSteps,
                                .min_lr_factor = 4e-6,
                                .start_factor = 0.04};
  const Schedule::Options restarts{
      .kind = Kind::WarmRestarts, .rate = 0.01, .every = 10, .min_lr_factor = 0.1, .growth = 2};
  return {
      {"lamb", std::make_shared<Lamb>(LambConfig{}), constant, 0.1, kMatrix},
      {"lamb_vector", std::make_shared<Lamb>(LambConfig{}), constant, 0.1},
      {"lars",
       std::make_shared<Lars>(LarsConfig{.trust_coefficient = 0.02}),
       {.rate = 0.1},
       0.1,
       kMatrix},
      {"adafactor", std::make_shared<Adafactor>(AdafactorConfig{}), constant, 0.1, kMatrix},
      {"adafactor_volume", std::make_shared<Adafactor>(AdafactorConfig{}), cycle, 0, kVolume},
      {"adafactor_vector", std::make_shared<Adafactor>(AdafactorConfig{}), constant, 0},
      {"muon", std::make_shared<Muon>(MuonConfig{.match_adam = false}), constant, 0.1, kMatrix},
      {"muon_tall", std::make_shared<Muon>(MuonConfig{.nesterov = false}), restarts, 0.1, kTall},
  };
}

std::vector<Case> running_mean_cases() {
  using Kind = Schedule::Kind;
  const Schedule::Options constant{.rate = 0.01};
  return {
      {"adagrad", std::make_shared<Adagrad>(AdagradConfig{.lr_decay = 0.01}), constant, 0.1},
      {"rmsprop",
       std::make_shared<Rmsprop>(RmspropConfig{}),
       {.kind = Kind::Exponential, .rate = 0.01, .factor = 0.98},
       0.1},
      {"rmsprop_centered",
       std::make_shared<Rmsprop>(RmspropConfig{.momentum = 0.9, .centered = true}),
       {.kind = Kind::Polynomial, .rate = 0.01, .steps = kSteps, .power = 2},
       0},
      {"rmsprop_momentum", std::make_shared<Rmsprop>(RmspropConfig{.momentum = 0.9}), constant, 0},
      {"rmsprop_mean", std::make_shared<Rmsprop>(RmspropConfig{.centered = true}), constant, 0},
      {"lion", std::make_shared<Lion>(LionConfig{}), constant, 0.1},
  };
}

std::vector<Case> all_cases() {
  using Kind = Schedule::Kind;
  const Schedule::Options constant{.rate = 0.01};
  return {
      {"sgd", std::make_shared<Sgd>(SgdConfig{.momentum = 0}), constant, 0.1},
      {"momentum",
       std::make_shared<Sgd>(SgdConfig{.momentum = 0.9}),
       {.kind = Kind::Step, .rate = 0.01, .every = 30, .factor = 0.5},
       0.1},
      {"nesterov",
       std::make_shared<Sgd>(SgdConfig{.momentum = 0.9, .nesterov = true}),
       {.kind = Kind::Linear, .rate = 0.01, .steps = kSteps, .min_lr_factor = 0.1},
       0},
      {"adam",
       std::make_shared<Adam>(AdamConfig{}),
       {.kind = Kind::Cosine, .rate = 0.01, .steps = kSteps, .min_lr_factor = 0.1},
       0.1},
      {"adamw", std::make_shared<Adam>(AdamwConfig{.betas = {0.8, 0.95}}), constant, 0.1},
      {"clipped", std::make_shared<Adam>(AdamwConfig{}), constant, 0.1},
  };
}

at::Tensor train(const Case& one, const at::Tensor& value, const at::Tensor& gradients) {
  const Schedule schedule(one.schedule);
  Slice slice{.value = value.clone(),
              .gradient = {},
              .state = {},
              .learning_rate = 0,
              .weight_decay = one.weight_decay,
              .sizes = one.sizes,
              .name = "weight"};
  for (std::size_t i = 0; i < one.rule->state_names().size(); ++i) {
    slice.state.push_back(torch::zeros_like(value));
  }
  for (std::int64_t step = 0; step < kSteps; ++step) {
    slice.gradient = gradients[step];
    slice.learning_rate = schedule.rate(step);
    const double scale = one.name == "clipped" ? clip_by_norm({&slice, 1}, 1.0).scale : 1.0;
    one.rule->update({&slice, 1}, step + 1, scale);
  }
  return slice.value;
}

void expect_means(const TemporaryFolder& folder, const at::Tensor& value,
                  const at::Tensor& gradients) {
  const auto sgd = [] { return std::make_unique<Sgd>(SgdConfig{}); };
  const std::pair<std::string, std::shared_ptr<Averaged>> rules[] = {
      {"ema", std::make_shared<Averaged>(sgd(), EmaConfig{.decay = 0.9, .begin = 5})},
      {"swa", std::make_shared<Averaged>(sgd(), SwaConfig{.begin = 5, .every = 7})}};
  for (const auto& [name, rule] : rules) {
    Slice slice{.value = value.clone(),
                .gradient = {},
                .state = {torch::zeros_like(value), torch::zeros_like(value)},
                .learning_rate = 0.01};
    for (std::int64_t step = 0; step < kSteps; ++step) {
      slice.gradient = gradients[step];
      rule->update({&slice, 1}, step + 1);
    }
    const at::Tensor mean = slice.value + slice.state[1];
    const at::Tensor theirs = read(folder, name, {kCount}, at::kDouble);
    EXPECT_LE((mean - theirs).abs().max().item<double>(), 1e-12) << name;
    EXPECT_GT((slice.value - theirs).abs().max().item<double>(), 1e-3) << name;
  }
}

void expect_rates_of_a_plateau(const TemporaryFolder& folder) {
  const at::Tensor theirs = read(folder, "plateau", {60}, at::kDouble);
  const Plateau plateau({.factor = 0.5, .patience = 3, .cooldown = 2, .min_lr_factor = 0.01});
  Plateau::State state;
  for (int i = 0; i < 60; ++i) {
    state = plateau.after(state, i < 10 ? 1.0 / (1 + i) : i < 40 ? 0.1 : 0.1 - 1e-5 * i);
    EXPECT_EQ(state.factor, theirs[i].item<double>()) << "metric " << i;
  }
  EXPECT_LT(state.factor, 0.1);
}

TEST(OptimReference, EndsWhereTorchsDo) {
  const TemporaryFolder folder("optim-reference");
  testing::CommandProcess python(
      {.command = {python_program(), source_folder() + "/tests/optim/reference.py",
                   folder.path().string()}});
  ASSERT_EQ(python.wait_exit(Deadline::after(std::chrono::minutes(2))), 0) << python.error();
  const at::Tensor value = read(folder, "value", {kCount}, at::kFloat);
  const at::Tensor gradients = read(folder, "gradients", {kSteps, kCount}, at::kFloat);
  std::vector<Case> all = all_cases();
  for (const auto& more : {running_mean_cases(), whole_cases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const Case& one : all) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      const bool is_wide = type == at::kDouble;
      const at::Tensor theirs = read(folder, one.name + (is_wide ? ".double" : ""), {kCount}, type);
      const at::Tensor mine = train(one, value.to(type), gradients.to(type));
      const double tolerance = one.name.starts_with("muon") ? 1e-3
                               : !is_wide                   ? 1e-5
                               : one.name == "clipped"      ? 2e-6
                                                            : 1e-12;
      EXPECT_LE((mine - theirs).abs().max().item<double>(),
                tolerance * theirs.abs().max().item<double>())
          << one.name << (is_wide ? ", float64" : ", float32");
    }
  }
  expect_means(folder, value.to(at::kDouble), gradients.to(at::kDouble));
  expect_rates_of_a_plateau(folder);
}

}  // namespace
}  // namespace trireme::optim
