// Goal:   precision by part of a model and by step: blocks compute in the type that is asked for
//         them; a job begins in float32, goes on in 16 bits, and comes back when a step goes wrong.
// Method: block by block against the same layers by hand; the switch's own arithmetic; whole jobs
//         against jobs of one precision, bit for bit, and one of which a sample is poisoned.

#include "trireme/train/precision_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/train/trainer_fixture.h"
#include "trireme/base/error.h"
#include "trireme/device/torch/autocast.h"
#include "trireme/train/module_precision.h"

namespace trireme::train {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

at::Tensor answer_of(Job& job, const at::Tensor& x, Precision precision) {
  const at::NoGradGuard no_grad;
  const Autocast narrow(at::kCPU, narrow_type(precision));
  return job.model->forward(x, {});
}

TEST(PrecisionOfModules, IsThatOfThePatternThatFits) {
  torch::manual_seed(2);
  const at::Tensor x = at::randn({4, 6});
  const Words hybrid{"model.hidden_sizes=[8]", "train.precision=bf16",
                     "train.module_precision=[\"*=bf16\", \"layers.1.*=fp32\"]"};
  Job wide = open_job(tiny_config("mlp", {"model.hidden_sizes=[8]"}), tiny_kinds());
  Job mixed = open_job(tiny_config("mlp", hybrid), tiny_kinds());
  Job other = open_job(tiny_config("mlp", {"model.hidden_sizes=[8]",
                                           "train.module_precision=[\"layers.0.*=bf16\"]"}),
                       tiny_kinds());
  const auto weights = weights_of(*wide.model);
  // The first layer by hand in 16 bits, the second in 32.
  at::Tensor hidden;
  {
    const at::NoGradGuard no_grad;
    const Autocast narrow(at::kCPU, at::kBFloat16);
    hidden = at::linear(x, weights.at("layers.0.weight"), weights.at("layers.0.bias")).relu();
  }
  ASSERT_EQ(hidden.scalar_type(), at::kBFloat16);
  const at::Tensor expected =
      at::linear(hidden.to(at::kFloat), weights.at("layers.1.weight"), weights.at("layers.1.bias"));
  const at::Tensor seen = answer_of(mixed, x, Precision::BFloat16);
  EXPECT_EQ(seen.scalar_type(), at::kFloat);
  EXPECT_TRUE(seen.equal(expected));
  EXPECT_TRUE(answer_of(other, x, Precision::Float32).equal(expected));
  EXPECT_FALSE(answer_of(wide, x, Precision::Float32).equal(expected));
  EXPECT_EQ(answer_of(wide, x, Precision::BFloat16).scalar_type(), at::kBFloat16);
}

TEST(PrecisionOfModules, LearnsAndIsRecomputed) {
  const Words words{"train.precision=bf16", "train.module_precision=[\"layers.2.*=fp32\"]"};
  Words again = words;
  again.emplace_back("model.activation_checkpointing=true");
  const Trained plain = train_threads(tiny_config("mlp", words), 1, 6);
  EXPECT_LT(plain.losses.back(), plain.losses.front());
  expect_same_bits(plain, train_threads(tiny_config("mlp", again), 1, 6), "recomputed");
}

TEST(PrecisionOfModules, RefusesWhatFitsNothing) {
  const auto open = [](const Words& words) { open_job(tiny_config("mlp", words), tiny_kinds()); };
  EXPECT_THROW(open({"train.module_precision=[\"head.*=fp32\"]"}), Error);
  EXPECT_THROW(open({"train.precision=fp16", "train.module_precision=[\"layers.0.*=bf16\"]"}),
               Error);
  EXPECT_THROW(open({"train.precision=bf16", "train.fallback_steps=3",
                     "train.module_precision=[\"layers.0.*=bf16\"]"}),
               Error);
  EXPECT_THROW(tiny_config("mlp", {"train.module_precision=[\"layers.0.*\"]"}), Error);
  EXPECT_THROW(tiny_config("mlp", {"train.module_precision=[\"layers.0.*=fp16\"]"}), Error);
}

TEST(PrecisionOfSteps, FollowsTheLosses) {
  TrainConfig config;
  config.precision = Precision::BFloat16;
  config.fp32_steps = 5;
  config.fallback_steps = 7;
  config.fallback_jump = 6;
  const PrecisionSwitch precision(config);
  PrecisionSwitch::State state;
  const auto step_from = [&](std::int64_t& step, double loss, bool is_finite = true) {
    state = precision.after(state, step++, loss, is_finite);
  };
  std::int64_t step = 0;
  EXPECT_EQ(precision.at(state, 4), Precision::Float32);
  EXPECT_EQ(precision.at(state, 5), Precision::BFloat16);
  while (step < 60) step_from(step, 2 + 0.1 * static_cast<double>(step % 3));
  step_from(step, 2.4);
  EXPECT_EQ(precision.at(state, step), Precision::BFloat16) << "within its usual spread";
  step_from(step, 4);
  for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(precision.at(state, step + i), Precision::Float32);
  EXPECT_EQ(precision.at(state, step + 7), Precision::BFloat16);
  step_from(step, kNan);
  EXPECT_EQ(state.float32_until, step + 6) << "in float32 there is nothing to go back to";
  while (precision.at(state, step) == Precision::Float32) step_from(step, 2);
  step_from(step, 2, /*is_finite=*/false);
  EXPECT_EQ(precision.at(state, step), Precision::Float32) << "gradients count too";
}

// Each replica has losses of its own; one would switch and the others not.
TEST(PrecisionOfSteps, RefusesToFollowReplicas) {
  const Words words{"train.precision=bf16", "train.fallback_steps=3"};
  Words apart = words;
  apart.emplace_back("sync.kind=local");
  EXPECT_NO_THROW(train_threads(tiny_config("mlp", words), 2, 1));
  EXPECT_THROW(train_threads(tiny_config("mlp", apart), 2, 1), Error);
}

class PrecisionOfJobs : public TrainerTest {};

TEST_F(PrecisionOfJobs, BeginsInFloat32AndGoesOnIn16Bits) {
  const auto words = [](const char* steps, const char* precision, const char* first) {
    return Words{steps, precision, first, "checkpoint.every=2"};
  };
  const char* const kNarrow = "train.precision=bf16";
  run("wide", words("train.steps=4", "train.precision=fp32", "train.fp32_steps=0"));
  run("first", words("train.steps=4", kNarrow, "train.fp32_steps=4"));
  const Ended all = run("first-on", words("train.steps=8", kNarrow, "train.fp32_steps=4"));
  expect_same_end("wide", "first");
  const Ended wide =
      run("wide-on", words("train.steps=8", "train.precision=fp32", "train.fp32_steps=0"));
  EXPECT_GT(distance(all.weights, wide.weights), 0);
  // A job that was cut in the middle ends alike.
  run("first", words("train.steps=8", kNarrow, "train.fp32_steps=4"), /*is_resumed=*/true);
  expect_same_end("first-on", "first");
}

TEST_F(PrecisionOfJobs, ComesBackToFloat32WhenAStepGoesWrong) {
  is_reported_ = true;
  Words words{"data.kind=poisoned", "train.steps=4", "train.precision=bf16",
              "train.fallback_steps=9"};
  const Ended ended = run("poisoned", words);
  EXPECT_EQ(ended.ending, TrainingOutcome::Done);
  EXPECT_EQ(ended.progress.updates, 3) << "the step that went wrong made none";
  EXPECT_GE(ended.progress.precision.float32_until, 10);
  EXPECT_THAT(said("poisoned", "events.jsonl"), ::testing::HasSubstr("back to float32"));
  words.back() = "train.fallback_steps=0";
  EXPECT_THROW(run("stopped", words), Error);
}

}  // namespace
}  // namespace trireme::train
