// Goal:   schedules, groups, loss scale and the recipe's sections have the specified values.
// Method: values computed by hand; recipes as text.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/optim/average_config.h"
#include "trireme/optim/averaged.h"
#include "trireme/optim/groups.h"
#include "trireme/optim/kinds.h"
#include "trireme/optim/loss_scale.h"
#include "trireme/optim/optim_config.h"
#include "trireme/optim/schedule/describe_rate.h"
#include "trireme/optim/schedule/plateau.h"
#include "trireme/optim/schedule/schedule.h"
#include "trireme/optim/schedule/schedule_config.h"
#include "trireme/optim/whole_config.h"

namespace trireme::optim {
namespace {

using Kind = Schedule::Kind;

TEST(OptimSchedule, WarmsUpToTheBaseRate) {
  const Schedule schedule({.rate = 2, .warmup = 4});
  EXPECT_EQ(schedule.rate(0), 0.5);
  EXPECT_EQ(schedule.rate(3), 2);
  EXPECT_EQ(schedule.rate(4), 2);
  EXPECT_EQ(Schedule(0.5).rate(1000000), 0.5);
}

TEST(OptimSchedule, FallsAsItsKindSays) {
  const Schedule step({.kind = Kind::Step, .rate = 1, .warmup = 1, .every = 3, .factor = 0.5});
  EXPECT_EQ(step.rate(3), 1);
  EXPECT_EQ(step.rate(4), 0.5);
  EXPECT_EQ(step.rate(7), 0.25);
  const Schedule linear(
      {.kind = Kind::Linear, .rate = 4, .steps = 10, .warmup = 2, .min_lr_factor = 0.5});
  EXPECT_EQ(linear.rate(2), 4);
  EXPECT_EQ(linear.rate(6), 3);
  EXPECT_EQ(linear.rate(10), 2);
  EXPECT_EQ(linear.rate(1000), 2);
  const Schedule cosine({.kind = Kind::Cosine, .rate = 1, .steps = 8});
  EXPECT_EQ(cosine.rate(0), 1);
  EXPECT_NEAR(cosine.rate(2), 0.5 + std::sqrt(0.125), 1e-15);
  EXPECT_NEAR(cosine.rate(8), 0, 1e-15);
  EXPECT_NEAR(cosine.rate(9), 0, 1e-15);
  // A job that ends during its warm-up.
  EXPECT_EQ(Schedule({.kind = Kind::Cosine, .rate = 1, .steps = 2, .warmup = 4}).rate(1), 0.5);
  EXPECT_THROW(Schedule({.rate = 1, .warmup = -1}), Error);
}

TEST(OptimSchedule, InverseSqrtIsVaswanis) {
  const Schedule schedule({.kind = Kind::InverseSqrt, .rate = 2, .warmup = 4});
  for (std::int64_t s = 0; s < 20; ++s) {
    const auto n = static_cast<double>(s + 1);
    const double paper = std::min(1 / std::sqrt(n), n * std::pow(4, -1.5)) * std::sqrt(4);
    EXPECT_NEAR(schedule.rate(s), 2 * paper, 1e-15) << s;
  }
  EXPECT_EQ(Schedule({.kind = Kind::InverseSqrt, .rate = 1}).rate(3), 0.5);
}

TEST(OptimSchedule, NothingBreaksInTheShortestJobs) {
  for (const Kind kind : {Kind::OneCycle, Kind::Polynomial, Kind::WarmRestarts}) {
    for (const std::int64_t steps : {0, 1, 2, 3}) {
      for (const std::int64_t step : {0, 1, 2, 1000}) {
        const double rate = Schedule({.kind = kind, .rate = 1, .steps = steps}).rate(step);
        EXPECT_TRUE(rate >= 0 && rate <= 1) << steps << " steps, at " << step << ": " << rate;
      }
    }
  }
  EXPECT_THROW(Schedule({.rate = 1, .growth = 0}), Error);
}

TEST(OptimPlateau, WhatIsNoNumberIsNoBetter) {
  const Plateau plateau({.factor = 0.5, .patience = 0, .is_larger_better = true});
  Plateau::State state = plateau.after({}, std::nan(""));
  EXPECT_EQ(state.factor, 0.5);
  state = plateau.after(state, 0.9);
  EXPECT_EQ(state.best, 0.9);
  EXPECT_EQ(plateau.after(state, std::nan("")).factor, 0.25);
  EXPECT_EQ(plateau.after(state, 0.95).factor, 0.5);
}

TEST(OptimGroups, NormsAndBiasesDoNotDecay) {
  const Groups groups;
  EXPECT_TRUE(groups.group_of("h.0.c_fc.weight", 2).is_decayed);
  EXPECT_FALSE(groups.group_of("h.0.c_fc.bias", 1).is_decayed);
  EXPECT_FALSE(groups.group_of("scale", 0).is_decayed);
  OptimConfig config{.decay_all = true, .no_decay = {"*wte*"}, .lr_factors = {"h.*=0.5", "*=2"}};
  EXPECT_TRUE(Groups(config).group_of("h.0.c_fc.bias", 1).is_decayed);
  EXPECT_FALSE(Groups(config).group_of("transformer.wte.weight", 2).is_decayed);
  EXPECT_EQ(Groups(config).group_of("h.0.x", 2).lr_factor, 2);
  config.lr_factors = {"*=2", "h.*=0.5"};
  EXPECT_EQ(Groups(config).group_of("h.0.x", 2).lr_factor, 0.5);
}

TEST(OptimGroups, PatternsAndFactors) {
  EXPECT_TRUE(is_match("", ""));
  EXPECT_TRUE(is_match("*", ""));
  EXPECT_TRUE(is_match("a*b*c", "a.b.b.c"));
  EXPECT_TRUE(is_match("*bias", "h.0.bias"));
  EXPECT_FALSE(is_match("*bias", "h.bias.0"));
  EXPECT_FALSE(is_match("a", "ab"));
  EXPECT_EQ(complaint_of_factors({"a=1", "b*=0.1"}), "");
  for (const char* wrong : {"a", "=1", "a=", "a=x", "a=-1", "a=1x", "a=inf"}) {
    EXPECT_NE(complaint_of_factors({wrong}), "") << wrong;
  }
  EXPECT_THROW(Groups({.lr_factors = {"a"}}), Error);
}

TEST(OptimLossScale, HalvesOnOverflowAndGrowsSlowly) {
  LossScale scale({.initial = 8, .interval = 2, .least = 2, .most = 16});
  EXPECT_TRUE(scale.update(true));
  EXPECT_EQ(scale.scale(), 8);
  EXPECT_FALSE(scale.update(false));
  EXPECT_EQ(scale.scale(), 4);
  EXPECT_EQ(scale.inverse(), 0.25);
  EXPECT_TRUE(scale.update(true));  // the good step before the bad one does not count
  EXPECT_EQ(scale.scale(), 4);
  const LossScale::State saved = scale.state();
  scale.update(true);
  EXPECT_EQ(scale.scale(), 8);
  for (int i = 0; i < 10; ++i) scale.update(true);
  EXPECT_EQ(scale.scale(), 16);
  for (int i = 0; i < 10; ++i) scale.update(false);
  EXPECT_EQ(scale.scale(), 2);
  scale.restore(saved);
  EXPECT_EQ(scale.state(), saved);
  EXPECT_EQ(LossScale().scale(), 65536);
  EXPECT_THROW(LossScale({.initial = 0}), Error);
}

config::Config read(const std::string& text) {
  config::Schema schema;
  add_optim_sections(schema);
  return read_config(schema, {.files = {{.name = "recipe", .text = text}}});
}

TEST(OptimKinds, ARecipeMakesThem) {
  const auto plain = read("");
  EXPECT_EQ(make_optimizer(plain)->state_names().size(), 2u);
  EXPECT_EQ(make_schedule(plain, 100).rate(50), 1e-3);
  EXPECT_EQ(weight_decay_of(plain), 0.01);
  const auto other = read(
      "[optim]\nkind = \"sgd\"\nlr = 0.5\nmomentum = 0.0\nweight_decay = 0.1\n"
      "[schedule]\nkind = \"linear\"\nwarmup_steps = 2\nmin_lr_factor = 0.5\n");
  EXPECT_TRUE(make_optimizer(other)->state_names().empty());
  EXPECT_EQ(make_optimizer(other)->grain(), Grain::Element);
  EXPECT_EQ(learning_rate_of(other), 0.5);
  EXPECT_EQ(weight_decay_of(other), 0.1);
  EXPECT_EQ(make_schedule(other, 12).rate(0), 0.25);
  EXPECT_EQ(make_schedule(other, 12).rate(7), 0.375);
  const auto drops = read("[schedule]\nkind = \"step\"\nstep_size = 10\n[optim]\nkind = \"adam\"");
  EXPECT_NEAR(make_schedule(drops, 100).rate(10), 1e-4, 1e-18);
  EXPECT_NEAR(make_schedule(read("[schedule]\nkind = \"cosine\""), 10).rate(5), 5e-4, 1e-18);
  for (const char* kind : {"adagrad", "rmsprop", "lion", "lamb", "lars", "adafactor", "muon"}) {
    const auto rule = read(std::string("[optim]\nkind = \"") + kind + "\"\nlr = 0.25");
    EXPECT_EQ(learning_rate_of(rule), 0.25) << kind;
    EXPECT_GE(make_optimizer(rule)->state_names().size(), 1u) << kind;
  }
  for (const auto& [kind, half] :
       std::vector<std::pair<std::string, double>>{{"exponential", std::pow(0.999, 50)},
                                                   {"polynomial", 0.5},
                                                   {"inverse_sqrt", 1 / std::sqrt(51)},
                                                   {"reduce_on_plateau", 1}}) {
    const auto schedule = read("[schedule]\nkind = \"" + kind + "\"");
    EXPECT_NEAR(make_schedule(schedule, 100).rate(50), 1e-3 * half, 1e-12) << kind;
    EXPECT_EQ(make_plateau(schedule, false).has_value(), kind == "reduce_on_plateau");
  }
  const auto mean = read("[average]\nkind = \"ema\"\ndecay = 0.5");
  EXPECT_EQ(make_optimizer(mean)->state_names().back(), kAverageLag);
  EXPECT_TRUE(has_average(mean) && !has_average(plain));
  EXPECT_THROW(read("[optim]\nkind = \"sgd\"\nnesterov = true\nmomentum = 0.0"), Error);
  EXPECT_THROW(read("[optim]\nrate_factors = [\"x\"]"), Error);
}

}  // namespace
}  // namespace trireme::optim
