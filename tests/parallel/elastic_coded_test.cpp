// Goal:   with a codec, a rank may die at any point of a step: survivors have bitwise equal
//         weights, every sample counts once, and so do residuals. Neither the residuals of a step
//         that runs again nor those of the failed rank are lost or sent twice.
// Method: ranks that die (mortal_ranks.h). A death in a step that no rank had prepared must give
//         the bits of a death before that step, and a death after prepare those of a death after
//         the step. This requires that a step runs again as a whole, because kept gradients would
//         be summed in another order.

#include <gtest/gtest.h>

#include "tests/parallel/mortal_ranks.h"
#include "trireme/codec/zstd/lossless.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/data/journal/ledger.h"

namespace trireme::train {
namespace {

constexpr int kCodedSteps = 6;
constexpr int kDeathAt = 4;  // the step of the death, from 1

config::Config coded_config(const Words& more) {
  Words words{"sync.kind=all_reduce", "optim.kind=sgd", "optim.lr=0.1"};
  words.insert(words.end(), more.begin(), more.end());
  return tiny_config("mlp", words, poisoned_kinds());
}

Trained trained_through_death(const config::Config& config, std::string_view point, int times) {
  return train_through(config, kCodedSteps, {{2, point, times}}, kRanks - 1);
}

class ElasticCoded : public ::testing::TestWithParam<Words> {};

TEST_P(ElasticCoded, EndsWithTheBitsOfADeathBetweenSteps) {
  Words words = GetParam();
  words.push_back("elastic.keep_gradients=false");
  const config::Config config = coded_config(words);
  const Trained before = trained_through_death(config, kMicroBatchEnded.name, kDeathAt - 1);
  const Trained after = trained_through_death(config, kMicroBatchEnded.name, kDeathAt);
  EXPECT_GT(distance(before.weights, after.weights), 0);
  for (const std::string_view point : {kForward.name, kBackward.name, kReduce.name}) {
    SCOPED_TRACE(point);
    EXPECT_EQ(distance(trained_through_death(config, point, kDeathAt).weights, before.weights), 0);
  }
  for (const std::string_view point : {parallel::kPrepared.name, parallel::data::kUpdating.name}) {
    SCOPED_TRACE(point);
    EXPECT_EQ(distance(trained_through_death(config, point, kDeathAt).weights, after.weights), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ElasticCoded,
    ::testing::Values(Words{"sync.codec.kind=int8"},
                      Words{"sync.codec.kind=top_k", "sync.codec.ratio=0.05"},
                      Words{"sync.codec.kind=powersgd", "sync.codec.rank=1"},
                      Words{"sync.codec.kind=threshold", "sync.codec.warmup=2"}),
    [](const auto& of) { return of.param[0].substr(std::string("sync.codec.kind=").size()); });

// A rank may die before it knows that its step is dropped. Survivors may have begun the next step:
// kept gradients would then be encoded by other ranks than in a step that begins without the dead.
TEST(ElasticCodedDropped, EndsWithTheBitsOfADeathAfterTheStep) {
  const config::Config config =
      coded_config({"sync.codec.kind=top_k", "sync.codec.ratio=0.05", "data.kind=poisoned",
                    "train.non_finite=skip", "elastic.keep_gradients=false"});
  const std::vector<double> losses = train_through(config, kCodedSteps, {}, kRanks).losses;
  const auto poisoned = std::ranges::find_if(losses, [](double one) { return std::isnan(one); });
  ASSERT_NE(poisoned, losses.end());
  const int dropped = static_cast<int>(poisoned - losses.begin()) + 1;
  const Trained after = trained_through_death(config, kMicroBatchEnded.name, dropped);
  const Trained prepared = trained_through_death(config, parallel::kPrepared.name, dropped);
  EXPECT_EQ(distance(prepared.weights, after.weights), 0);
}

// A lossless codec gives the sums of all samples.
TEST(ElasticCodedWithoutLoss, EndsNearAnUndisturbedRun) {
  if (!codec::zstd::is_available()) GTEST_SKIP() << "NOT TESTED: this build has no zstd";
  const config::Config config = coded_config({"sync.codec.kind=zstd"});
  const Trained undisturbed = train_threads(coded_config({}), 1, kCodedSteps);
  const std::vector<std::vector<Death>> all = {
      {{1, kBackward.name, 2}, {0, parallel::kPrepared.name, 3}},
      {{3, kReduce.name, 2}, {2, kForward.name, 4}},
      {{0, parallel::data::kUpdating.name, 1}, {1, kForward.name, 3}}};
  for (const std::vector<Death>& deaths : all) {
    for (const bool is_apart : {false, true}) {
      SCOPED_TRACE(std::string(deaths[0].point) + (is_apart ? ", apart" : ""));
      const Trained through = is_apart ? train_through_apart(config, kCodedSteps, deaths, 2)
                                       : train_through(config, kCodedSteps, deaths, 2);
      EXPECT_LT(distance(through.weights, undisturbed.weights), 1e-5);
    }
  }
}

// Places 0 and 1 are on one host, 2 and 3 on the other; the first of each is the host's leader.
const std::vector<int> kPairsOfPlaces{0, 0, 1, 1};

Trained spread_through(const config::Config& config, const std::vector<Death>& deaths,
                       bool is_in_step = false) {
  return train_through(config, kCodedSteps, deaths, kRanks - deaths.size(), is_in_step,
                       kPairsOfPlaces);
}

// Gradients of micro-batches are not kept for a step that runs again.
TEST(ElasticCodedHosts, EndWithTheBitsOfADeathBetweenSteps) {
  for (const char* kind : {"sync.kind=zero2", "sync.kind=zero3"}) {
    const config::Config config =
        coded_config({kind, "elastic.keep_gradients=false", "sync.codec.kind=int4"});
    for (const int dies : {0, 2, 3}) {
      const auto through = [&](std::string_view point, int times) {
        return spread_through(config, {{dies, point, times}}).weights;
      };
      const Weights before = through(kMicroBatchEnded.name, kDeathAt - 1);
      const Weights after = through(kMicroBatchEnded.name, kDeathAt);
      EXPECT_GT(distance(before, after), 0);
      for (const std::string_view point : {kForward.name, kBackward.name, kReduce.name}) {
        EXPECT_EQ(distance(through(point, kDeathAt), before), 0) << point << " of " << dies;
      }
      for (const std::string_view point :
           {parallel::kPrepared.name, parallel::data::kUpdating.name}) {
        EXPECT_EQ(distance(through(point, kDeathAt), after), 0) << point << " of " << dies;
      }
    }
  }
}

// In the first step, when the other ranks have ended their passes and lay out their buckets.
TEST(ElasticCodedHosts, ContinueWhenARankDiesInTheFirstStep) {
  const config::Config config = coded_config({"sync.kind=shared", "sync.codec.kind=int8"});
  for (const int dies : {0, 2, 3}) {
    const Death death{
        .place = dies, .point = kForward.name, .delay = std::chrono::milliseconds(200)};
    const Trained through = spread_through(config, {death});
    EXPECT_LT(through.losses.back(), through.losses.front());
  }
}

class ElasticCodedHostsOf : public ::testing::TestWithParam<Words> {};

// The remaining rank of a host has the host's residual, even if the leader died.
TEST_P(ElasticCodedHostsOf, KeepTheirResidualWhicheverRankDies) {
  const auto through = [](int dies, int times) {
    return spread_through(coded_config(GetParam()), {{dies, kMicroBatchEnded.name, times}}, true)
        .weights;
  };
  for (const int times : {3, 4}) EXPECT_EQ(distance(through(2, times), through(3, times)), 0);
}

// All ranks of a host, both leaders, and one rank of each host at once.
TEST_P(ElasticCodedHostsOf, ContinueWithAnyRemainingRanks) {
  const std::string_view prepared = parallel::kPrepared.name;
  for (const std::vector<Death>& deaths :
       {std::vector<Death>{{2, kReduce.name, 3}, {3, kForward.name, 4}},
        {{0, kBackward.name, 2}, {2, prepared, 4}},
        {{0, prepared, 2}, {3, prepared, 2}},
        {{1, kForward.name, 1}, {0, kReduce.name, 5}},
        {{0, kReduce.name, 2}, {1, kReduce.name, 2}, {2, kForward.name, 5}}}) {
    spread_through(coded_config(GetParam()), deaths);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ElasticCodedHostsOf,
    ::testing::Values(Words{"sync.kind=shared", "sync.codec.kind=int4"},
                      Words{"sync.kind=hierarchical", "sync.across=gradients",
                            "sync.codec.kind=top_k", "sync.codec.ratio=0.05"},
                      Words{"sync.kind=zero1", "sync.codec.kind=powersgd", "sync.codec.rank=1"},
                      Words{"sync.kind=zero3", "sync.codec.kind=threshold", "sync.codec.warmup=2"}),
    [](const auto& of) { return of.param[0].substr(std::string("sync.kind=").size()); });

// A lossless codec gives the sums of all samples.
TEST(ElasticCodedHostsWithoutLoss, EndNearAnUndisturbedRun) {
  if (!codec::zstd::is_available()) GTEST_SKIP() << "NOT TESTED: this build has no zstd";
  const config::Config config = coded_config({"sync.kind=shared", "sync.codec.kind=zstd"});
  const Trained undisturbed = train_threads(coded_config({}), 1, kCodedSteps);
  for (const std::vector<Death>& deaths :
       {std::vector<Death>{},
        {{2, kBackward.name, 2}},
        {{0, parallel::data::kUpdating.name, 3}, {1, kReduce.name, 4}}}) {
    EXPECT_LT(distance(spread_through(config, deaths).weights, undisturbed.weights), 1e-5);
  }
}

// Without shared memory the failed rank's residual is lost, but survivors must have equal weights.
TEST(ElasticCodedApart, SurvivorsHaveEqualWeights) {
  const config::Config config = coded_config({"sync.codec.kind=int8"});
  for (const std::string_view point : {kBackward.name, kReduce.name, kMicroBatchEnded.name}) {
    SCOPED_TRACE(point);
    train_through_apart(config, kCodedSteps, {{2, point, kDeathAt}}, kRanks - 1);
  }
}

}  // namespace
}  // namespace trireme::train
