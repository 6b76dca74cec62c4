// Goal:   a job that is interrupted and resumed ends with the bits of an uninterrupted job; a job
//         whose score no longer improves ends; the best checkpoint is kept.
// Method: whole jobs in this process, on one rank and on threads, compared by their checkpoints.

#include "trireme/train/trainer.h"

#include <gmock/gmock.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/train/job.h"
#include "trireme/train/report/reporter.h"
#include "trireme/train/step.h"

namespace trireme::train {
namespace {

TEST_F(TrainerTest, ResumedEqualsUninterrupted) {
  for (const char* precision : {"fp32", "bf16", "fp16"}) {
    const Words words{std::string("train.precision=") + precision, "checkpoint.every=3",
                      "eval.every=4", "model.dropout=0.2", "optim.max_grad_norm=1"};
    const std::string whole = std::string("whole-") + precision;
    const Ended undisturbed = run(whole, words);
    EXPECT_EQ(undisturbed.ending, TrainingOutcome::Done);
    EXPECT_EQ(undisturbed.progress.step, 20);
    EXPECT_EQ(undisturbed.weights.begin()->second.scalar_type(), at::kFloat);
    const std::string cut = std::string("cut-") + precision;
    for (const char* steps :
         {"train.steps=1", "train.steps=7", "train.steps=8", "train.steps=20"}) {
      Words fewer = words;
      fewer.emplace_back(steps);
      run(cut, fewer, true);
    }
    expect_same_end(whole, cut);
  }
}

TEST_F(TrainerTest, ResumedOnOtherRanksEqualsUninterrupted) {
  const Words words{"train.logical_ranks=4", "checkpoint.every=3", "optim.max_grad_norm=0.1"};
  run("whole", words);
  Words fewer = words;
  fewer.emplace_back("train.steps=7");
  for (const char* how : {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero1",
                          "sync.kind=zero2", "sync.kind=zero3"}) {
    const std::string folder = std::string("cut-") + (how + 10);
    Words first = fewer;
    first.emplace_back(how);
    Words then = words;
    then.emplace_back(how);
    run(folder, first, false, 2);
    run(folder, then, true, 3);
    EXPECT_EQ(newest(folder).step(), 20);
    expect_same_end("whole", folder);
  }
}

// The same number of ranks, without virtual ones.
TEST_F(TrainerTest, ResumedOnTheSameNumberOfRanksEqualsUninterrupted) {
  for (const char* kind : {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero1",
                           "sync.kind=zero2", "sync.kind=zero3"}) {
    const std::string whole = std::string("whole-") + (kind + 10);
    const std::string cut = std::string("cut-") + (kind + 10);
    run(whole, {kind, "optim.max_grad_norm=0.1"}, false, 3);
    run(cut, {kind, "optim.max_grad_norm=0.1", "train.steps=7"}, false, 3);
    run(cut, {kind, "optim.max_grad_norm=0.1"}, true, 3);
    expect_same_end(whole, cut);
  }
}

TEST_F(TrainerTest, AskedToStopSavesAndGoesOnLater) {
  const Words words{"train.logical_ranks=2", "eval.every=3"};
  run("whole", words);
  std::atomic<bool> stop{true};
  // Every run makes one step before it stops, the third without its evaluation.
  for (int i = 1; i < 5; ++i) {
    const Ended ended = run("stopped", words, true, 1 + i % 2, &stop);
    EXPECT_EQ(ended.ending, TrainingOutcome::Stopped);
    EXPECT_EQ(ended.progress.best_step, -1);
    EXPECT_EQ(newest("stopped").step(), i);
  }
  stop = false;
  EXPECT_EQ(run("stopped", words, true, 1, &stop).ending, TrainingOutcome::Done);
  EXPECT_EQ(newest("stopped").step(), 20);
  expect_same_end("whole", "stopped");
}

// Asked within an evaluation: it is given up between two batches and counts for nothing.
TEST_F(TrainerTest, AnEvaluationEndsWhereAStopIsWanted) {
  const Words words{"data.kind=asking", "train.logical_ranks=2", "eval.every=7",
                    "eval.batch_size=1", "checkpoint.every=7"};
  run("whole", words);
  for (const int ranks : {1, 2}) {
    const std::string folder = "given-up" + std::to_string(ranks);
    std::atomic<bool> stop{false};
    const Ended ended = run(folder, words, false, ranks, &stop);
    EXPECT_EQ(ended.ending, TrainingOutcome::Stopped);
    EXPECT_EQ(ended.progress.step, 7);
    EXPECT_EQ(ended.progress.best_step, -1);
    EXPECT_EQ(newest(folder).step(), 7);
    EXPECT_FALSE(newest(folder).score().has_value());
    EXPECT_EQ(run(folder, words, true, ranks).ending, TrainingOutcome::Done);
    expect_same_end("whole", folder);
  }
}

TEST_F(TrainerTest, ReadersDoNotChangeBits) {
  run("one", {"data.num_workers=1"});
  for (const char* threads : {"data.num_workers=0", "data.num_workers=3"}) {
    run(threads, {threads, "data.prefetch_factor=4"});
    expect_same_end("one", threads);
  }
}

TEST_F(TrainerTest, AnotherRecipesCheckpointIsRefused) {
  run("first", {"train.steps=2"});
  try {
    run("first", {"train.global_batch_size=11"}, true);
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_NE(error.message().find(
                  "other settings: train.global_batch_size (10, now 11). To resume with the "
                  "new ones add --allow-changes train.global_batch_size; "),
              std::string::npos)
        << error.message();
  }
  EXPECT_EQ(newest("first").step(), 2);
}

// On every rank; the checkpoint that follows is of the new settings, and a later change is one of
// those.
TEST_F(TrainerTest, AllowedChangesAreMade) {
  is_reported_ = true;
  for (const int ranks : {1, 2}) {
    const std::string folder = "changed" + std::to_string(ranks);
    run(folder, {"train.steps=2"}, false, ranks);
    allowed_changes_ = {"optim.lr", "optim.max_grad_norm", "train.global_batch_size"};
    const Words changed{"optim.lr=0.5", "optim.max_grad_norm=3", "train.global_batch_size=7",
                        "train.steps=4"};
    run(folder, changed, true, ranks);
    EXPECT_THAT(said(folder, "metrics.jsonl"), ::testing::HasSubstr("\"learning_rate\":0.5"));
    EXPECT_THAT(said(folder, "screen"), ::testing::HasSubstr("settings changed: optim.lr"));
    allowed_changes_ = {};
    Words same = changed;
    same.emplace_back("train.steps=5");
    EXPECT_EQ(run(folder, same, true, ranks).progress.step, 5) << "they are the job's own now";
    EXPECT_THROW(run(folder, {"train.steps=6"}, true, ranks), Error);
    EXPECT_EQ(newest(folder).step(), 5);
  }
}

// Its last checkpoint still says how it was trained.
TEST_F(TrainerTest, AFinishedJobKeepsItsRecipe) {
  const auto recipe_of = [&] { return Progress::from_json(newest("job").meta()); };
  run("job", {"train.steps=6"});
  EXPECT_EQ(recipes_kept_, 1);
  const Progress before = recipe_of();
  run("job", {"train.steps=4", "eval.every=1"}, true);
  EXPECT_EQ(recipes_kept_, 1);
  EXPECT_EQ(recipe_of().recipe, before.recipe);
  EXPECT_EQ(recipe_of().planned, 6);
  run("job", {"train.steps=8"}, true);
  EXPECT_EQ(recipes_kept_, 2);
  EXPECT_GT(recipe_of().seconds, before.seconds) << "of the whole job";
}

TEST_F(TrainerTest, EndsWhenNothingGetsBetter) {
  const Words words{"optim.kind=sgd", "optim.lr=1e-12", "eval.every=1", "eval.patience=3",
                    "eval.metric=accuracy"};
  const Ended ended = run("patience", words);
  EXPECT_EQ(ended.ending, TrainingOutcome::NoBetter);
  EXPECT_EQ(ended.progress.best_step, 1);
  EXPECT_EQ(ended.progress.step, 4);
  // It has no patience left when it is asked to go on.
  const Ended again = run("patience", words, true);
  EXPECT_EQ(again.ending, TrainingOutcome::NoBetter);
  EXPECT_EQ(again.progress.step, 4);
  const Ended two = run("patience2", words, false, 2);
  EXPECT_EQ(two.progress.step, 4);
}

// A rate so large that the first evaluation stays the best.
TEST_F(TrainerTest, TheBestStaysBesideTheLast) {
  Words words = diverging("optim.lr=2");
  words.insert(words.end(),
               {"eval.every=1", "checkpoint.every=1", "checkpoint.keep=1", "train.steps=9"});
  const Ended ended = run("best", words);
  ASSERT_LT(ended.progress.best_step, 9);
  EXPECT_EQ(checkpoints_in(at("best")), 2);
  EXPECT_EQ(newest("best").step(), 9);
  const auto best = checkpoint::Checkpoint::open(checkpoint_at("best", ended.progress.best_step));
  EXPECT_EQ(best.score(), ended.progress.best);
  words.emplace_back("checkpoint.keep_best=false");
  run("last", words);
  EXPECT_EQ(checkpoints_in(at("last")), 1);
}

// Steps of evaluations and of checkpoints that never meet.
TEST_F(TrainerTest, TheBestIsSavedWhereverItIsFound) {
  Words words = diverging("optim.lr=2");
  words.insert(words.end(), {"eval.every=3", "checkpoint.every=5", "train.steps=11"});
  const Ended ended = run("best", words);
  ASSERT_EQ(ended.progress.best_step, 3);
  EXPECT_EQ(checkpoint::Checkpoint::open(checkpoint_at("best", 3)).score(), ended.progress.best);
  words.emplace_back("checkpoint.keep_best=false");
  run("last", words);
  EXPECT_FALSE(fs::exists(checkpoint_at("last", 3)));
}

TEST_F(TrainerTest, ALongEpochIsSavedBeforeItEnds) {
  run("long", {"data.count=20000", "checkpoint.every=0", "train.steps=1003"});
  EXPECT_TRUE(fs::exists(checkpoint_at("long", 1000)));
  EXPECT_EQ(newest("long").step(), 1003);
  EXPECT_EQ(checkpoints_in(at("long")), 2);
}

// The last step is due for a checkpoint but not for an evaluation: it gets one first.
TEST_F(TrainerTest, TheLastCheckpointHasItsScore) {
  const Ended ended = run("score", {"checkpoint.every=4", "eval.every=3", "train.steps=8"});
  EXPECT_TRUE(newest("score").score().has_value());
  EXPECT_EQ(Progress::from_json(newest("score").meta()).best, ended.progress.best);
}

TEST_F(TrainerTest, AJobOfNoStepsIsSavedAsItBegan) {
  const Ended ended = run("none", {"train.steps=0"});
  EXPECT_EQ(ended.ending, TrainingOutcome::Done);
  EXPECT_EQ(newest("none").step(), 0);
}

// A host's copy of the data may have a row more, by which everything is standardized differently.
TEST(OpenJob, RanksWithOtherDataAreNamed) {
  const auto groups = comm::connect_threads(3, {.timeout = std::chrono::seconds(60)});
  testing::run_rank_threads(3, [&](int rank) {
    const Words other{rank == 1 ? "data.count=38" : "data.count=37"};
    try {
      open_job(tiny_config("mlp", other), tiny_kinds(), groups[static_cast<std::size_t>(rank)]);
      ADD_FAILURE() << "opened on rank " << rank;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Mismatch);
      EXPECT_THAT(error.message(),
                  ::testing::HasSubstr("the training data of rank 1 (38 samples) differ from those "
                                       "of rank 0 (37 samples)"));
    }
  });
}

}  // namespace
}  // namespace trireme::train
