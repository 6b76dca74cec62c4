// Goal:   a regression learns standardized targets and is reported in original units, alike on any
//         ranks; samples that cannot be read count for nothing, alike on any ranks.
// Method: tiny tables and pictures on threads, against sums over all samples at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/base/error.h"
#include "trireme/data/png/png.h"
#include "trireme/train/evaluate/ensemble.h"
#include "trireme/train/evaluate/evaluation.h"
#include "trireme/train/evaluate/significance.h"

namespace trireme::train {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class TableJob : public TrainerTest {
 protected:
  TableJob() {
    is_reported_ = true;
    std::string text = "x,z,price,weight\n";
    for (int i = 0; i < 60; ++i) {
      const int x = i * 7 % 13, z = i * 5 % 11;
      text += std::to_string(x) + "," + std::to_string(z) + "," +
              std::to_string(1000000 + 3000 * x - 2000 * z) + ",0.00" + std::to_string(100 + x) +
              "\n";
    }
    write_file_atomically(folder_.path() / "t.csv", text);
  }

  Words words(const Words& more = {}) const {
    Words all{"data.kind=csv", "data.train=" + (folder_.path() / "t.csv").string(),
              "data.task=regression", "data.inputs=[\"x\", \"z\"]",
              "data.targets=[\"price\", \"weight\"]"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  config::Config config(const Words& more = {}) const {
    return config::read_config(
        recipe_schema(tiny_kinds()),
        {.files = {{"table.toml",
                    "[model]\nkind = \"mlp\"\nhidden_sizes = [8]\n"
                    "[train]\nglobal_batch_size = 10\nnum_threads = 1\nsteps = 60\n"
                    "[optim]\nlr = 0.02\n"}},
         .overrides = words(more)});
  }
};

TEST_F(TableJob, RegressionIsReportedInOriginalUnitsAlikeOnAnyRanks) {
  std::vector<PredictionErrors> errors;
  const auto look = [&](Job& job) {
    const Outcome first = job.step->run(0);
    if (job.group.rank() == 0) errors.push_back(*first.errors);
  };
  const auto train = [&](const Words& more, int ranks) {
    return train_threads(config(more), ranks, 5, tiny_kinds(), look);
  };
  const Trained one = train({"train.logical_ranks=2"}, 1);
  for (const char* kind : {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero3"}) {
    expect_same_bits(one, train({"train.logical_ranks=2", kind}, 2), kind);
  }
  train({"sync.kind=delayed"}, 2);
  EXPECT_EQ(errors.size(), 5U);
  for (const PredictionErrors& other : errors) {
    EXPECT_NEAR(other.squared / errors.front().squared, 1, 1e-5);
    EXPECT_NEAR(other.absolute / errors.front().absolute, 1, 1e-5);
    EXPECT_NEAR(other.standardized / errors.front().standardized, 1, 1e-5);
  }
  EXPECT_GT(errors.front().absolute, 100) << "prices are in the thousands";
}

TEST_F(TableJob, RegressionLearnsAndIsScoredPerTarget) {
  Job job = open_job(config(), tiny_kinds());
  const std::vector<data::Standard> standards = job.sets.test->form().target_standards;
  ASSERT_EQ(standards.size(), 2U);
  for (int step = 0; step < 300; ++step) job.step->run(step);
  const Scores scores =
      evaluate(*job.model, {.source = job.sets.test, .loss = job.loss.get(), .batch = 4});
  EXPECT_GT(scores.numbers().r2(), 0.95) << "the mean of both targets";
  const std::int64_t count = job.sets.test->count();
  at::Tensor x = at::empty({count, 2}), y = at::empty({count, 2});
  for (std::int64_t i = 0; i < count; ++i) {
    job.sets.test->read(i, {}, x[i].data_ptr(), y[i].data_ptr());
  }
  const at::NoGradGuard no_grad;
  const at::Tensor said = data::restored(job.model->forward(x, {}), standards);
  const at::Tensor truth = data::restored(y, standards);
  EXPECT_GT(truth.select(1, 0).min().item<double>(), 900000);
  EXPECT_NEAR(scores.numbers().mean_absolute(), (said - truth).abs().mean().item<double>(), 1e-6);
  EXPECT_NEAR(scores.loss(), (said - truth).square().mean().item<double>(), 1e-3);
}

TEST_F(TableJob, JobsThatStandardizeDifferentlyAreComparedInOriginalUnits) {
  Job one = open_job(config({"data.targets=[\"weight\"]"}), tiny_kinds());
  Job other = open_job(config({"data.targets=[\"weight\"]", "data.standardize_targets=false"}),
                       tiny_kinds());
  for (int step = 0; step < 50; ++step) {
    one.step->run(step);
    other.step->run(step);
  }
  const auto alone = [](Job& job) {
    return evaluate(*job.model, {.source = job.sets.test, .loss = job.loss.get(), .batch = 4});
  };
  const ModelComparison both =
      compare_models({one.model, one.sets.test}, {other.model, other.sets.test},
                     {.loss = one.loss.get(), .batch = 4});
  EXPECT_NEAR(both.first.loss() / alone(one).loss(), 1, 1e-4);
  EXPECT_NEAR(both.second.loss() / alone(other).loss(), 1, 1e-4);
  EXPECT_NEAR(both.loss.mean, both.first.loss() - both.second.loss(), 1e-9);
}

// Numbers of which float32 has only the first digits, and rows of another distribution to learn
// from.
TEST_F(TableJob, TasksAndLargeNumbersAreComparedInOriginalUnits) {
  std::string rows = "x,z,time,kind\n", others = rows;
  for (int i = 0; i < 40; ++i) {
    const int x = i * 7 % 13, z = i * 5 % 11;
    const std::string more = "," + std::to_string(z) + ",17000" + std::to_string(10000 + 10 * x) +
                             (x > 6 ? ",late\n" : ",early\n");
    rows += std::to_string(x) + more;
    if (x > 3) others += std::to_string(x) + more;
  }
  write_file_atomically(folder_.path() / "one.csv", rows);
  write_file_atomically(folder_.path() / "other.csv", others);
  const auto open = [&](const char* train, const Words& more) {
    Words all{"data.train=" + (folder_.path() / train).string(),
              "data.test=" + (folder_.path() / "one.csv").string()};
    all.insert(all.end(), more.begin(), more.end());
    Job job = open_job(config(all), tiny_kinds());
    for (int step = 0; step < 20; ++step) job.step->run(step);
    return job;
  };
  const auto expect_own_scores = [](Job& one, Job& other) {
    const ModelComparison both = compare_models(
        {one.model, one.sets.test}, {other.model, other.sets.test}, {.loss = one.loss.get()});
    for (const auto& [scores, job] : {std::pair{&both.first, &one}, {&both.second, &other}}) {
      const Scores own = evaluate(*job->model, {.source = job->sets.test, .loss = job->loss.get()});
      EXPECT_EQ(scores->task_figures().size(), own.task_figures().size());
      for (std::size_t i = 0; i < own.task_figures().size(); ++i) {
        const auto& [name, value] = own.task_figures()[i];
        EXPECT_NEAR(scores->task_figures()[i].second / value, 1, 1e-3) << name;
      }
      if (!own.numbers().is_empty()) {
        EXPECT_NEAR(scores->numbers().mean_absolute() / own.numbers().mean_absolute(), 1, 1e-3);
      }
    }
  };
  const Words tasks{"model.kind=multitask", "data.task=multitask",
                    "data.targets=[\"kind\", \"time\"]", "data.class_targets=[\"kind\"]"};
  Job one = open("one.csv", tasks), other = open("other.csv", tasks);
  ASSERT_NE(one.sets.test->form().target_standards, other.sets.test->form().target_standards);
  expect_own_scores(one, other);

  const Words numbers{"data.targets=[\"time\"]"};
  const Words plain{"data.targets=[\"time\"]", "data.standardize_targets=false"};
  Job standardized = open("one.csv", numbers), rounded = open("one.csv", plain);
  expect_own_scores(standardized, rounded);

  Job reversed =
      open("one.csv", {"model.kind=multitask", "data.task=multitask",
                       "data.targets=[\"time\", \"kind\"]", "data.class_targets=[\"kind\"]"});
  EXPECT_THROW(compare_models({one.model, one.sets.test}, {reversed.model, reversed.sets.test},
                              {.loss = one.loss.get()}),
               Error);
}

TEST_F(TableJob, MaeAndR2AreShownWhileItTrains) {
  Job job = open_job(config({"train.steps=20", "eval.every=10"}), tiny_kinds());
  Reporter reporter(reporting("job"));
  Trainer trainer(job, {.output = at("job"), .reporter = &reporter});
  trainer.run();
  const std::string metrics = said("job", "metrics.jsonl");
  for (const char* name : {"\"mae\":", "\"r2\":", "\"eval_mae\":", "\"eval_r2\":"}) {
    EXPECT_THAT(metrics, HasSubstr(name));
  }
  const std::string screen = said("job", "screen");
  EXPECT_THAT(screen, HasSubstr("targets are standardized for training"));
  EXPECT_THAT(screen, ContainsRegex("step 20/20  loss .*  mae .*  r2 "));
  EXPECT_THAT(screen, ContainsRegex("evaluation at step 20: loss .*, mae .*, r2 "));
}

// r2 is relative to the variance of the training rows, whether or not targets are standardized.
TEST_F(TableJob, AStepHasTheSameR2WithoutStandardizedTargets) {
  Job job = open_job(config({"data.targets=[\"price\"]", "data.standardize_targets=false",
                             "data.test_fraction=0", "train.global_batch_size=60"}),
                     tiny_kinds());
  const PredictionErrors errors = *job.step->run(0).errors;
  Moments prices;
  for (int i = 0; i < 60; ++i) prices.add(1000000 + 3000 * (i * 7 % 13) - 2000 * (i * 5 % 11));
  EXPECT_NEAR(errors.standardized * prices.variance() / errors.squared, 1, 1e-6);
}

TEST_F(TableJob, R2IsShownWithoutStandardizedTargetsToo) {
  Job job = open_job(config({"train.steps=3", "data.standardize_targets=false"}), tiny_kinds());
  Reporter reporter(reporting("job"));
  Trainer(job, {.output = at("job"), .reporter = &reporter}).run();
  EXPECT_THAT(said("job", "metrics.jsonl"), HasSubstr("\"r2\":"));
}

// Six pictures of each class, one of each damaged.
class BadSamplesJob : public TrainerTest {
 protected:
  BadSamplesJob() {
    for (const char* name : {"cat", "dog"}) {
      fs::create_directories(folder_.path() / "pictures" / name);
      for (int i = 0; i < 6; ++i) {
        data::image::Pixels picture{.channels = 1, .height = 8, .width = 8};
        for (int p = 0; p < 64; ++p) {
          picture.bytes.push_back(
              static_cast<std::uint8_t>(p * (i + 1) + (name[0] == 'c' ? 90 : 0)));
        }
        Bytes file = data::png::encode(picture);
        if (i == 4) file.resize(file.size() / 2);
        write_file_atomically(folder_.path() / "pictures" / name / (std::to_string(i) + ".png"),
                              file);
      }
    }
  }

  config::Config config(const Words& more) const {
    const std::string pictures = (folder_.path() / "pictures").string();
    Words all{"data.train=" + pictures, "data.test=" + pictures};
    all.insert(all.end(), more.begin(), more.end());
    return config::read_config(
        recipe_schema(tiny_kinds()),
        {.files = {{"t.toml",
                    "[model]\nkind = \"mlp\"\nhidden_sizes = [6]\n[data]\n"
                    "kind = \"images\"\nsize = [8, 8]\ngrayscale = true\n"
                    "[train]\nglobal_batch_size = 6\nnum_threads = 1\nlogical_ranks = 4\n"}},
         .overrides = all});
  }
};

TEST_F(BadSamplesJob, EndTheJobByDefaultAndAreNamed) {
  try {
    Job job = open_job(config({}), tiny_kinds());
    for (int step = 0; step < 2; ++step) job.step->run(step);
    FAIL();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Unsupported) GTEST_SKIP() << "NOT TESTED: no libpng";
    EXPECT_THAT(error.message(), HasSubstr("4.png"));
    EXPECT_THAT(error.message(), HasSubstr("set data.bad_samples = \"skip\""));
  }
}

TEST_F(BadSamplesJob, MayBeSkippedByAResumedJob) {
  const config::Config skipping = config({"data.bad_samples=skip"});
  EXPECT_EQ(job_hash(skipping), job_hash(config({})));
  EXPECT_TRUE(differences(config({}).to_toml(), skipping).empty());
}

// The loss and its gradient are means over the samples that there are.
TEST_F(BadSamplesJob, LeaveTheMeanToTheOthers) {
  const Words words{"data.bad_samples=skip", "train.global_batch_size=12"};
  try {
    const Outcome with = open_job(config(words), tiny_kinds()).step->run(0);
    for (const char* name : {"cat", "dog"}) {
      fs::remove(folder_.path() / "pictures" / name / "4.png");
    }
    const Outcome without = open_job(config(words), tiny_kinds()).step->run(0);
    EXPECT_EQ(with.skipped, 2);
    EXPECT_EQ(with.samples, 10);
    EXPECT_EQ(without.samples, 10);
    EXPECT_NEAR(with.loss, without.loss, 1e-5);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Unsupported) GTEST_SKIP() << "NOT TESTED: no libpng";
    throw;
  }
}

// The last batches of a comparison have no sample that can be read.
TEST_F(BadSamplesJob, AreCountedWhereTwoModelsAreCompared) {
  write_file_atomically(folder_.path() / "pictures" / "dog" / "5.png", "no picture");
  try {
    Job job = open_job(config({"data.bad_samples=skip"}), tiny_kinds());
    const PanelMember member{job.model, job.sets.test};
    const PanelOptions options{.loss = job.loss.get(), .batch = 1};
    const ModelComparison found = compare_models(member, member, options);
    EXPECT_EQ(found.first.skipped(), 3);
    EXPECT_EQ(found.second.answers(), 9);
    EXPECT_EQ(score_ensemble({member, member}, Blend::Average, options).ensemble.skipped(), 3);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Unsupported) GTEST_SKIP() << "NOT TESTED: no libpng";
    throw;
  }
}

TEST_F(BadSamplesJob, AStepWithoutAnyIsSkippedAndAnEvaluationIsAnError) {
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "pictures")) {
    if (entry.is_regular_file()) write_file_atomically(entry.path(), "no picture");
  }
  for (const char* kind : {"all_reduce", "shared", "zero3", "local"}) {
    const config::Config skipping =
        config({"data.bad_samples=skip", std::string("sync.kind=") + kind, "train.logical_ranks=0",
                "optim.kind=adamw", "optim.weight_decay=0.5"});
    for (const int ranks : {1, 2}) {
      const bool is_local = std::string(kind) == "local" && ranks > 1;
      train_threads(skipping, ranks, 2, tiny_kinds(), [&](Job& job) {
        const Weights before = weights_of(*job.model);
        const Outcome outcome = job.step->run(0);
        EXPECT_EQ(outcome.is_empty, !is_local) << kind << " on " << ranks;
        EXPECT_EQ(outcome.samples, 0);
        EXPECT_EQ(outcome.skipped, 6);
        job.gradient_sync().model().settle();
        if (!is_local) {
          EXPECT_EQ(distance(before, weights_of(*job.model)), 0) << kind;
        }
        try {
          evaluate(*job.model,
                   {.source = job.sets.test, .loss = job.loss.get(), .group = job.group});
          ADD_FAILURE() << "a score of nothing";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
          EXPECT_THAT(error.message(), HasSubstr("none of the 12 samples to evaluate on"));
        }
      });
    }
  }
}

TEST_F(BadSamplesJob, AJobGoesOnWithoutUpdatesWhereNoSampleCanBeRead) {
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "pictures")) {
    if (entry.is_regular_file()) write_file_atomically(entry.path(), "no picture");
  }
  Job job =
      open_job(config({"data.bad_samples=skip", "data.test=", "train.steps=3"}), tiny_kinds());
  Reporter silent({});
  Trainer trainer(job, {.output = at("job"), .reporter = &silent});
  EXPECT_EQ(trainer.run(), TrainingOutcome::Done);
  EXPECT_EQ(trainer.progress().step, 3);
  EXPECT_EQ(trainer.progress().updates, 0);
  EXPECT_EQ(trainer.progress().samples, 0);
}

TEST_F(BadSamplesJob, CountForNothingAlikeOnAnyRanks) {
  const config::Config skipping = config({"data.bad_samples=skip"});
  const auto look = [&](Job& job) {
    std::int64_t skipped = 0;
    for (int step = 0; step < 2; ++step) skipped += job.step->run(step).skipped;
    EXPECT_EQ(skipped, 2) << "of an epoch, on " << job.group.size() << " ranks";
    const Scores scores = evaluate(*job.model, {.source = job.sets.test,
                                                .loss = job.loss.get(),
                                                .batch = 5,
                                                .is_ranked = true,
                                                .group = job.group});
    EXPECT_EQ(scores.skipped(), 2);
    EXPECT_EQ(scores.answers(), 10);
  };
  try {
    const Trained one = train_threads(skipping, 1, 4, tiny_kinds(), look);
    expect_same_bits(one, train_threads(skipping, 3, 4, tiny_kinds(), look), "three ranks");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Unsupported) GTEST_SKIP() << "NOT TESTED: no libpng";
    throw;
  }
}

}  // namespace
}  // namespace trireme::train
