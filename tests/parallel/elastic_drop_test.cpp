// Goal:   a job that excludes late ranks from steps survives the death of a rank in such a step or
//         in the next one, which runs the excluded samples: no sample is lost or counts twice, and
//         survivors have bitwise equal weights.
// Method: ranks that die (mortal_ranks.h), one of which is late in the last micro-batch of the
//         third step, and a model with one weight per sample. Each step moves the weights of its n
//         samples by 1/n, so all weights together have moved by the number of steps.

#include <gtest/gtest.h>

#include "tests/parallel/mortal_ranks.h"
#include "tests/train/counted_samples.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/data/journal/ledger.h"

namespace trireme::train {
namespace {

constexpr int kCount = 96;
constexpr int kCountedSteps = 8;                            // one epoch
constexpr int kLateStep = 3;                                // from 1
constexpr int kReducesBeforeLate = kLateStep * kRanks - 1;  // of all ranks together
constexpr int kLate = 1;
constexpr int kDying = 2;

struct DropCase {
  const char* name;
  std::string kind;
  std::vector<int> hosts{};
  int micro_batches = 1;  // of a rank
};

class ElasticDrop : public ::testing::TestWithParam<DropCase> {
 protected:
  // How many ranks were excluded. `deaths`: besides the late rank.
  int expect_each_counts_once(std::vector<Death> deaths) {
    // Until the others have nothing left to do in the step, and their messages are on the way.
    deaths.push_back({.place = kLate,
                      .point = kForward.name,
                      .times = kLateStep * GetParam().micro_batches,
                      .reduces = kReducesBeforeLate,
                      .delay = std::chrono::milliseconds(20),
                      .is_late = true});
    const config::Config config =
        counting({"sync.kind=" + GetParam().kind, "balance.drop_stragglers=1",
                  "data.count=" + std::to_string(kCount), "train.global_batch_size=12",
                  "train.grad_accum_steps=" + std::to_string(GetParam().micro_batches)});
    const Trained found =
        train_through(config, kCountedSteps, deaths, kRanks + 1 - deaths.size(),
                      /*is_in_step=*/true, GetParam().hosts, counting_kinds(kCount));
    const at::Tensor moved = found.weights.at("weight").to(at::kDouble);
    EXPECT_NEAR(moved.sum().item<double>(), kCountedSteps, 1e-5);
    for (int i = 0; i < kCount; ++i) {
      const double samples = 1 / moved[i].item<double>();  // of its step
      EXPECT_NEAR(samples, std::round(samples), 1e-4) << "sample " << i;
    }
    return found.left_out;
  }
};

TEST_P(ElasticDrop, NoSampleIsLostWithoutADeath) {
  EXPECT_GT(expect_each_counts_once({}), 0);
}

TEST_P(ElasticDrop, NoSampleIsLostWhenARankDiesInTheStepThatExcludesAnother) {
  for (const std::string_view point :
       {kReduce.name, parallel::kPrepared.name, parallel::data::kUpdating.name}) {
    SCOPED_TRACE(point);
    const bool is_before = point == kReduce.name;
    const int left_out = expect_each_counts_once({{.place = kDying,
                                                   .point = point,
                                                   .times = kLateStep,
                                                   .reduces = is_before ? kReducesBeforeLate : 0}});
    if (!is_before) {
      EXPECT_GT(left_out, 0);
    }
  }
}

TEST_P(ElasticDrop, NoSampleIsLostWhenARankDiesInTheStepThatRunsThem) {
  for (const std::string_view point : {kForward.name, kReduce.name, parallel::kPrepared.name}) {
    SCOPED_TRACE(point);
    const int passes = point == kForward.name ? GetParam().micro_batches : 1;  // per step
    const Death death{.place = kDying, .point = point, .times = kLateStep * passes + 1};
    EXPECT_GT(expect_each_counts_once({death}), 0);
  }
}

TEST_P(ElasticDrop, NoSampleIsLostWhenTheExcludedRankDies) {
  for (const std::string_view point : {parallel::kPrepared.name, parallel::data::kUpdating.name}) {
    SCOPED_TRACE(point);
    EXPECT_GT(expect_each_counts_once({{.place = kLate, .point = point, .times = kLateStep}}), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ElasticDrop,
                         ::testing::Values(DropCase{"all_reduce", "all_reduce"},
                                           DropCase{"shared", "shared"}, DropCase{"zero2", "zero2"},
                                           DropCase{"two_micro_batches", "all_reduce", {}, 2},
                                           DropCase{"zero1_on_two_hosts", "zero1", {0, 0, 1, 1}}),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace trireme::train
