// Goal:   every rule of [optim] and every mean of [average] gives on many ranks, whatever their way
//         to agree, what it gives on one; the mean takes the weights' place and leaves it again.
// Method: ranks are threads, or apart over TCP where slices have memory of their own. In float64, 4
//         steps must agree within 1e-10 in every parameter.

#include <gtest/gtest.h>

#include "tests/comm/tcp_ranks.h"
#include "tests/train/tiny_job.h"
#include "trireme/base/error.h"
#include "trireme/train/averaged_weights.h"

namespace trireme::train {
namespace {

constexpr int kFewSteps = 4;
constexpr double kClose = 1e-10;

class RulesOnRanks : public ::testing::TestWithParam<std::string> {};

TEST_P(RulesOnRanks, AreThatOfOne) {
  const std::string rule = "optim.kind=" + GetParam();
  // Some of attention's biases have no gradient but for rounding, whose sign is lion's direction,
  // and which adafactor divides by its own size.
  const bool is_scaled_up = GetParam() == "lion" || GetParam() == "adafactor";
  const std::string model = is_scaled_up ? "cnn64" : "gpt64";
  const Trained one = train_threads(tiny_config(model, {rule}), 1, kFewSteps);
  const Trained none = train_threads(tiny_config(model, {rule}), 1, 0);
  EXPECT_GT(distance(one.weights, none.weights), 1e-4) << "nothing was learned";
  for (const char* how : {"all_reduce", "shared", "zero1"}) {
    const config::Config config =
        tiny_config(model, {rule, std::string("sync.kind=") + how, "sync.bucket_size=\"4 KiB\""});
    EXPECT_LT(distance(train_threads(config, 3, kFewSteps).weights, one.weights), kClose) << how;
  }
  const config::Config config = tiny_config(model, {rule, "sync.kind=zero3"});
  comm::run_tcp_ranks({.count = 2}, [&](const comm::Group& group) {
    Job job = open_job(config, tiny_kinds(), group);
    for (int step = 0; step < kFewSteps; ++step) job.step->run(step);
    job.gradient_sync().model().settle();
    EXPECT_LT(distance(weights_of(*job.model), one.weights), kClose) << "zero3";
  });
}

INSTANTIATE_TEST_SUITE_P(All, RulesOnRanks,
                         ::testing::Values("adagrad", "rmsprop", "lion", "lamb", "lars",
                                           "adafactor", "muon"),
                         [](const auto& of) { return of.param; });

// What the mean is on each rank, and the weights after it was there.
Weights mean_of(Job& job) {
  for (int step = 0; step < kFewSteps; ++step) job.step->run(step);
  job.gradient_sync().model().settle();
  const Weights before = weights_of(*job.model);
  AveragedWeights average(job.gradient_sync());
  const Weights mean = weights_of(*job.model);
  average.put_back();
  job.gradient_sync().model().settle();
  EXPECT_EQ(distance(weights_of(*job.model), before), 0);
  EXPECT_GT(distance(mean, before), 1e-4) << "the mean is the weights";
  job.group.barrier().wait();
  return mean;
}

TEST(AverageOnRanks, IsThatOfOneAndComesAndGoes) {
  for (const char* kind : {"average.kind=ema", "average.kind=swa"}) {
    Words words{kind, "average.begin=1"};
    words.push_back(std::string(kind).ends_with("swa") ? "average.every=2" : "average.decay=0.7");
    Job alone = open_job(tiny_config("mlp64", words), tiny_kinds());
    const Weights one = mean_of(alone);
    for (const char* how : {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero1"}) {
      Words here = words;
      here.push_back(how);
      const config::Config config = tiny_config("mlp64", here);
      const auto groups = comm::connect_threads(3, {.timeout = std::chrono::seconds(60)});
      testing::run_rank_threads(3, [&](int rank) {
        Job job = open_job(config, tiny_kinds(), groups[static_cast<std::size_t>(rank)]);
        EXPECT_LT(distance(mean_of(job), one), kClose) << how;
      });
    }
  }
}

TEST(AverageOnRanks, APlateauNeedsSomethingToLookAt) {
  const config::Config config =
      tiny_config("mlp", {"schedule.kind=reduce_on_plateau", "data.test_count=0"});
  EXPECT_THROW(open_job(config, tiny_kinds()), Error);
}

}  // namespace
}  // namespace trireme::train
