// Goal:   a rank may die at any point of a step, and another one during the recovery: the step
//         completes on all ranks or on none, and the weights are those of a run without failures,
//         bitwise with logical ranks. A rank that joins later gets the state of the others.
// Method: ranks are threads that die at fault points (mortal_ranks.h).

#include "trireme/parallel/elastic_sync.h"

#include <gtest/gtest.h>

#include "tests/parallel/mortal_ranks.h"
#include "trireme/parallel/data/elastic_data_parallel.h"
#include "trireme/parallel/data/journal/ledger.h"

namespace trireme::train {
namespace {

struct Moment {
  const char* name;
  std::vector<Death> deaths;
  std::size_t survivors = kRanks - 1;
};

std::vector<Moment> moments() {
  const std::string_view prepared = parallel::kPrepared.name;
  const std::string_view updating = parallel::data::kUpdating.name;
  return {
      {"no_failure", {}, kRanks},
      {"prepared", {{1, prepared, 3}}},
      {"forward", {{1, kForward.name, 4}}},
      {"forward_at_once", {{2, kForward.name, 1}}},
      {"backward", {{0, kBackward.name, 5}}},
      {"before_reduce", {{3, kReduce.name, 3}}},
      {"next_step_begun", {{0, kForward.name, 3}}},
      {"one_after_another", {{3, kReduce.name, 2}, {0, kForward.name, 4}}, 2},
      {"prepared_first", {{0, prepared, 2}}},
      {"updating", {{2, updating, 5}}},
      {"updating_last", {{3, updating, 4}}},
      {"between_steps", {{0, kMicroBatchEnded.name, 3}}},
      {"two_updating", {{1, updating, 4}, {2, updating, 4}}, 2},
      {"successor_too", {{1, updating, 4}, {0, updating, 6}}, 2},
      {"three", {{1, prepared, 2}, {2, updating, 7}, {3, kMicroBatchEnded.name, 4}}, 1},
  };
}

// The reported loss of a step that ran again is that of the whole batch, too. float32 losses of
// micro-batches are added in the order of ranks, so they differ by rounding.
void expect_near(const std::vector<double>& losses, const std::vector<double>& wanted) {
  ASSERT_EQ(losses.size(), wanted.size());
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], wanted[i], 1e-5) << i;
}

class ElasticSyncOf : public ::testing::TestWithParam<std::string> {};

TEST_P(ElasticSyncOf, LogicalRanksGiveTheBitsOfARunWithoutFailures) {
  const config::Config config =
      tiny_config("mlp", {"sync.kind=" + GetParam(), "train.logical_ranks=8", "train.steps=7"});
  const Trained undisturbed = train_threads(config, 1, 7);
  for (const Moment& moment : moments()) {
    SCOPED_TRACE(moment.name);
    const Trained through = train_through(config, 7, moment.deaths, moment.survivors);
    EXPECT_EQ(distance(through.weights, undisturbed.weights), 0);
    expect_near(through.losses, undisturbed.losses);
  }
}

TEST_P(ElasticSyncOf, OrdinarySumsEndNearARunWithoutFailures) {
  const config::Config config = tiny_config("gpt64", {"sync.kind=" + GetParam(), "train.steps=7"});
  const Trained undisturbed = train_threads(config, 1, 7);
  for (const Moment& moment : moments()) {
    SCOPED_TRACE(moment.name);
    const Trained through = train_through(config, 7, moment.deaths, moment.survivors);
    EXPECT_LT(distance(through.weights, undisturbed.weights), 1e-10);
    expect_near(through.losses, undisturbed.losses);
  }
}

// Rank 0 runs the failed rank's micro-batch, unchanged; no rank runs its own again. The death is in
// the last step, so that all steps have the same micro-batches: a pass over other samples would
// give other statistics.
TEST_P(ElasticSyncOf, OnlyTheMicroBatchesOfTheFailedRankRunAgain) {
  const config::Config config = tiny_config("counted64", {"sync.kind=" + GetParam()});
  const Trained undisturbed = train_threads(config, kRanks, 3);
  const std::vector<Death> when_all_are_done = {{3, kReduce.name, 3, 3 * kRanks}};
  const Trained at_its_end = train_through(config, 3, when_all_are_done, 3, true);
  EXPECT_EQ(at_its_end.passes, 3 * kRanks + 1);
  const Trained at_its_beginning = train_through(config, 3, {{3, kForward.name, 3}}, 3, true);
  for (const Trained& through : {at_its_end, at_its_beginning}) {
    EXPECT_EQ(through.counted, 4);
    EXPECT_LT(distance(through.weights, undisturbed.weights), 1e-12);
    expect_near(through.losses, undisturbed.losses);
  }
}

// A micro-batch is identified by its samples: with other weights, or another number of
// micro-batches, it is a different one.
TEST(ElasticAssignment, DistinguishesDifferentMicroBatches) {
  Job job = open_job(tiny_config("mlp", {}), tiny_kinds());
  const std::uint64_t first = job.step->assignment();
  job.assign({0, 0});
  EXPECT_NE(job.step->assignment(), first);
  job.assign({0, 0}, {2, 3});
  const std::uint64_t weighted = job.step->assignment();
  job.assign({0, 0}, {3, 2});
  EXPECT_NE(job.step->assignment(), weighted);
  job.assign({0, 0}, {2, 3});
  EXPECT_EQ(job.step->assignment(), weighted);
  EXPECT_NE(weighted, 0u);
}

// Without kept gradients, which saves memory, every rank runs its micro-batches again.
TEST(ElasticReleased, AStepRunsAgainAsAWhole) {
  for (const char* kind : {"all_reduce", "zero2", "zero3"}) {
    const config::Config config =
        tiny_config("counted64", {std::string("sync.kind=") + kind, "elastic.keep_gradients=false",
                                  "train.global_batch_size=12"});
    const Trained undisturbed = train_threads(config, kRanks, 3);
    const std::vector<Death> when_all_are_done = {{3, kReduce.name, 3, 3 * kRanks}};
    const Trained through = train_through(config, 3, when_all_are_done, 3, true);
    EXPECT_EQ(through.passes, 3 * kRanks + 3) << kind;
    EXPECT_EQ(through.counted, 3) << kind;
    EXPECT_LT(distance(through.weights, undisturbed.weights), 1e-12) << kind;
  }
}

TEST(ElasticApart, SeveralHostsEndWithTheSameWeights) {
  for (const std::string& micro_batches : {std::string("train.logical_ranks=6"), std::string()}) {
    Words words{"sync.kind=all_reduce"};
    if (!micro_batches.empty()) words.push_back(micro_batches);
    const config::Config config = tiny_config(micro_batches.empty() ? "mlp64" : "mlp", words);
    const Trained undisturbed = train_threads(config, 1, 7);
    for (const Moment& moment : moments()) {
      SCOPED_TRACE(moment.name);
      const Trained through = train_through_apart(config, 7, moment.deaths, moment.survivors);
      const double far = distance(through.weights, undisturbed.weights);
      EXPECT_LE(far, micro_batches.empty() ? 1e-10 : 0) << micro_batches;
      expect_near(through.losses, undisturbed.losses);
    }
  }
}

TEST(ElasticModels, HaveTheSameBitsOnAnyNumberOfRanksAndAfterFailures) {
  for (const char* model : {"cnn", "gpt"}) {
    for (const char* precision : {"fp32", "bf16"}) {
      SCOPED_TRACE(std::string(model) + " " + precision);
      const config::Config config = tiny_config(
          model, {"sync.kind=shared", "train.logical_ranks=4", "train.steps=5",
                  std::string("train.precision=") + precision, "optim.max_grad_norm=0.5"});
      const Trained alone = train_threads(config, 1, 5);
      for (int ranks = 2; ranks <= 4; ++ranks) {
        EXPECT_EQ(distance(train_threads(config, ranks, 5).weights, alone.weights), 0) << ranks;
      }
      for (const Moment& moment : moments()) {
        if (std::string_view("prepared backward updating").find(moment.name) ==
            std::string_view::npos) {
          continue;
        }
        SCOPED_TRACE(moment.name);
        const Trained through = train_through(config, 5, moment.deaths, moment.survivors);
        EXPECT_EQ(distance(through.weights, alone.weights), 0);
      }
    }
  }
}

// The new rank's shard was created after the last step, so survivors must not complete an update of
// that step for it.
TEST(ElasticNewcomer, ARankThatDiesBeforeItsFirstStepChangesNothing) {
  at::set_num_threads(1);
  const config::Config config = tiny_config("mlp", {"sync.kind=zero1", "train.logical_ranks=4"});
  const std::vector<comm::Group> roots =
      comm::connect_threads(3, {.timeout = std::chrono::seconds(30)});
  std::vector<std::unique_ptr<Job>> jobs(roots.size());  // the memory of a failed rank stays
  testing::run_rank_threads(3, [&](int place) {
    const comm::Group& root = roots[static_cast<std::size_t>(place)];
    std::unique_ptr<Job>& job = jobs[static_cast<std::size_t>(place)];
    job = std::make_unique<Job>(
        open_job(config, tiny_kinds(), comm::Group::solo(), {.is_elastic = true}));
    auto& elastic = dynamic_cast<parallel::ElasticSync&>(job->gradient_sync());
    const auto meet = [&](const std::vector<int>& places, bool is_new) {
      job->regroup(root.subgroup(places));
      elastic.survive(job->group, places);
      elastic.finish_failed_ranks();
      elastic.regroup(is_new);
      job->assign(job->fair_owners());
    };
    if (place < 2) meet({0, 1}, false);
    for (int step = 0; place < 2 && step < 2; ++step) {
      job->step->run({.step = step, .updates = step});
    }
    job->gradient_sync().model().settle();
    const Weights before = place < 2 ? weights_of(*job->model) : Weights{};
    meet({0, 1, 2}, place == 2);
    if (place == 2) return;
    meet({0, 1}, false);
    job->gradient_sync().model().settle();
    EXPECT_EQ(distance(weights_of(*job->model), before), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(All, ElasticSyncOf,
                         ::testing::Values("all_reduce", "shared", "zero1", "zero2", "zero3"),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace trireme::train
