// Goal:   eval.metric is one that the data has, may be infinite, and may change between two
//         stretches of a job.
// Method: jobs opened with each, and whole jobs in this process that go on with another.

#include "tests/train/trainer_fixture.h"
#include "trireme/base/error.h"

namespace trireme::train {
namespace {

class MetricTest : public TrainerTest {
 protected:
  static bool is_refused(const Words& words) {
    const Kinds kinds = tiny_kinds();
    try {
      open_job(tiny_config("mlp", words, kinds), kinds);
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << error.what();
      EXPECT_NE(error.message().find("eval.metric"), std::string::npos) << error.message();
      return true;
    }
  }
};

TEST_F(MetricTest, OneThatTheDataCannotHaveIsRefused) {
  for (const char* metric : {"eval.metric=accuracy", "eval.metric=f1", "eval.metric=perplexity"}) {
    EXPECT_TRUE(is_refused({metric, "data.task=regression"})) << metric;
    EXPECT_FALSE(is_refused({metric})) << metric;
  }
  for (const char* metric : {"eval.metric=mae", "eval.metric=r2"}) {
    EXPECT_FALSE(is_refused({metric, "data.task=regression"})) << metric;
    EXPECT_TRUE(is_refused({metric})) << metric;
  }
  EXPECT_FALSE(is_refused({"eval.metric=roc_auc"}));
  EXPECT_TRUE(is_refused({"eval.metric=top5"})) << "five classes, of which the best are all";
  EXPECT_FALSE(is_refused({"eval.metric=top5", "data.classes=6"}));
  EXPECT_FALSE(is_refused({"eval.metric=top3"}));
  EXPECT_TRUE(is_refused({"eval.metric=top10", "data.classes=10"}));
  EXPECT_TRUE(is_refused({"eval.metric=top11", "data.classes=20"}));
  EXPECT_FALSE(is_refused({"eval.metric=loss", "data.task=regression"}));
  EXPECT_FALSE(is_refused({"eval.metric=f1", "data.classes=1000"}));
  EXPECT_TRUE(is_refused({"eval.metric=f1", "data.classes=1001"}));
  EXPECT_FALSE(is_refused({"eval.metric=accuracy", "data.classes=1001"}));
}

TEST_F(MetricTest, ANewOneForgetsTheOldBest) {
  const Words first{"eval.every=2", "checkpoint.every=2", "checkpoint.keep=1", "train.steps=6"};
  const Ended loss = run("job", first);
  ASSERT_GT(loss.progress.best, 1.0) << "no share of right answers is that large";
  const Ended accuracy = run("job",
                             {"eval.every=2", "checkpoint.every=2", "checkpoint.keep=1",
                              "train.steps=12", "eval.metric=accuracy"},
                             true);
  EXPECT_LE(accuracy.progress.best, 1.0);
  EXPECT_GE(accuracy.progress.best_step, 6);
  // The last and the best by the new one; that of the old one went.
  EXPECT_LE(checkpoints_in(at("job")), 2);
  EXPECT_TRUE(fs::exists(checkpoint_at("job", accuracy.progress.best_step)));
  EXPECT_EQ(newest("job").step(), 12);
}

// The steps are so long that e to the power of every loss overflows; the weights do not.
TEST_F(MetricTest, AJobWithAnInfiniteBestScoreCanBeResumed) {
  const Words words{"eval.every=1",          "checkpoint.every=1", "eval.metric=perplexity",
                    "model.hidden_sizes=[]", "data.sizes=[60]",    "optim.kind=sgd",
                    "optim.lr=1000",         "train.steps=1"};
  const Ended ended = run("job", words);
  ASSERT_TRUE(std::isinf(ended.progress.best)) << ended.progress.best;
  Words more = words;
  more.back() = "train.steps=3";
  EXPECT_EQ(run("job", more, true).progress.step, 3);
}

// A job that ended is not evaluated again; one that was stopped before its last evaluation is.
TEST_F(MetricTest, WhatWasEvaluatedIsNotEvaluatedAgain) {
  const Words words{"optim.lr=1e-12", "eval.every=4", "train.steps=8"};
  const Ended ended = run("job", words);
  const Ended again = run("job", words, true);
  EXPECT_EQ(again.progress.evaluations_since_best, ended.progress.evaluations_since_best);
  std::atomic<bool> stop{true};
  run("stopped", {"train.steps=1"}, false, 1, &stop);
  EXPECT_FALSE(newest("stopped").score().has_value());
  run("stopped", {"train.steps=1"}, true);
  EXPECT_TRUE(newest("stopped").score().has_value());
}

}  // namespace
}  // namespace trireme::train
