// Goal:   a job that is cut short and resumed ends with the bits of one that was not; what is not
//         finite is stopped, skipped or rolled back; a job that gets no better ends; the best
//         stays.
// Method: whole jobs in this process, on one rank and on threads, compared by their checkpoints.
//         One sample of the data is not a number where that is wanted.

#include "trireme/train/trainer.h"

#include <filesystem>
#include <limits>

#include "tests/train/tiny_job.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/model/wrap.h"
#include "trireme/train/job.h"
#include "trireme/train/reporter.h"
#include "trireme/train/step.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

// The synthetic samples, of which number 5 is poisoned.
class PoisonedSource final : public data::Source {
 public:
  explicit PoisonedSource(std::shared_ptr<const Source> of) : of_(std::move(of)) {}
  std::int64_t count() const override { return of_->count(); }
  const data::Form& form() const override { return of_->form(); }
  void read(std::int64_t sample, const data::SampleKey& key, void* input,
            void* target) const override {
    of_->read(sample, key, input, target);
    if (sample == 5) *static_cast<float*>(input) = std::numeric_limits<float>::quiet_NaN();
  }

 private:
  std::shared_ptr<const Source> of_;
};

Kinds poisoned_kinds() {
  Kinds kinds = tiny_kinds();
  kinds.data.add<data::memory::SyntheticConfig>("poisoned", "", [](const auto& config) {
    const data::Sets sets = data::memory::open_synthetic(config);
    return data::Sets{std::make_shared<PoisonedSource>(sets.train), sets.test};
  });
  return kinds;
}

class TrainerTest : public ::testing::Test {
 protected:
  struct Ended {
    Ending ending{};
    Progress progress;
    Weights weights;
  };

  // The whole job, every rank a thread.
  Ended run(const std::string& folder, const Words& overrides, bool is_resumed = false,
            int ranks = 1, const std::atomic<bool>* stop = nullptr) {
    at::set_num_threads(1);
    const Kinds kinds = poisoned_kinds();
    const config::Config config = tiny_config("mlp", overrides, kinds);
    std::vector<comm::Group> groups{comm::Group::solo()};
    if (ranks > 1) groups = comm::connect_threads(ranks);
    Ended ended;
    testing::run_rank_threads(ranks, [&](int rank) {
      Job job = open_job(config, kinds, groups[static_cast<std::size_t>(rank)]);
      Reporter silent({});
      Trainer trainer(job, {.output = at(folder),
                            .is_resumed = is_resumed,
                            .is_stop_wanted = stop,
                            .reporter = &silent});
      const Ending ending = trainer.run();
      if (rank == 0) ended = {ending, trainer.progress(), weights_of(*job.model)};
      job.group.barrier().wait();
    });
    return ended;
  }

  fs::path at(const std::string& folder) const { return folder_.path() / folder; }
  checkpoint::Checkpoint newest(const std::string& folder) const {
    auto found = checkpoint::Checkpoint::newest_whole(at(folder) / "checkpoints");
    EXPECT_TRUE(found.checkpoint.has_value());
    return *found.checkpoint;
  }

  // Straight lines fitted with steps that are too long: each makes it worse by a factor.
  static Words diverging(const std::string& rate) {
    return {"data.task=regression", "model.widths=[]", "optim.kind=sgd", rate};
  }

  static std::int64_t checkpoints_in(const fs::path& folder) {
    return std::count_if(fs::directory_iterator(folder / "checkpoints"), {}, [](const auto& entry) {
      return entry.path().filename().string().starts_with("step-");
    });
  }

  TemporaryFolder folder_{"trainer-test"};
};

TEST_F(TrainerTest, ResumedEqualsUninterrupted) {
  for (const char* precision : {"float32", "bfloat16", "float16"}) {
    const Words words{std::string("train.precision=") + precision, "checkpoint.every=3",
                      "eval.every=4", "model.dropout=0.2", "optim.clip_norm=1"};
    const std::string whole = std::string("whole-") + precision;
    const Ended undisturbed = run(whole, words);
    EXPECT_EQ(undisturbed.ending, Ending::Done);
    EXPECT_EQ(undisturbed.progress.step, 20);
    EXPECT_EQ(undisturbed.weights.begin()->second.scalar_type(), at::kFloat);
    const std::string cut = std::string("cut-") + precision;
    for (const char* steps :
         {"train.steps=1", "train.steps=7", "train.steps=8", "train.steps=20"}) {
      Words fewer = words;
      fewer.emplace_back(steps);
      run(cut, fewer, true);
    }
    const auto left = newest(whole);
    const auto right = newest(cut);
    for (const std::string& name : left.names()) {
      EXPECT_TRUE(left.read(name).equal(right.read(name))) << precision << " " << name;
    }
  }
}

TEST_F(TrainerTest, ResumedOnOtherRanksEqualsUninterrupted) {
  const Words words{"train.virtual_ranks=4", "checkpoint.every=3", "optim.clip_norm=0.1"};
  run("whole", words);
  Words fewer = words;
  fewer.emplace_back("train.steps=7");
  for (const char* how :
       {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero1", "sync.kind=zero2"}) {
    const std::string folder = std::string("cut-") + (how + 10);
    Words first = fewer;
    first.emplace_back(how);
    Words then = words;
    then.emplace_back(how);
    run(folder, first, false, 2);
    run(folder, then, true, 3);
    const auto left = newest("whole");
    const auto right = newest(folder);
    EXPECT_EQ(right.step(), 20);
    for (const std::string& name : left.names()) {
      EXPECT_TRUE(left.read(name).equal(right.read(name))) << how << " " << name;
    }
  }
}

// The same number of ranks, without virtual ones.
TEST_F(TrainerTest, ResumedOnAsManyRanksEqualsUninterrupted) {
  for (const char* kind :
       {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero1", "sync.kind=zero2"}) {
    const std::string whole = std::string("whole-") + (kind + 10);
    const std::string cut = std::string("cut-") + (kind + 10);
    run(whole, {kind, "optim.clip_norm=0.1"}, false, 3);
    run(cut, {kind, "optim.clip_norm=0.1", "train.steps=7"}, false, 3);
    run(cut, {kind, "optim.clip_norm=0.1"}, true, 3);
    const auto left = newest(whole);
    const auto right = newest(cut);
    for (const std::string& name : left.names()) {
      EXPECT_TRUE(left.read(name).equal(right.read(name))) << kind << " " << name;
    }
  }
}

TEST_F(TrainerTest, AskedToStopSavesAndGoesOnLater) {
  run("whole", {});
  std::atomic<bool> stop{true};
  // Every run makes one step before it stops.
  for (int i = 1; i < 5; ++i) {
    const Ended ended = run("stopped", {}, true, 1 + i % 2, &stop);
    EXPECT_EQ(ended.ending, Ending::Stopped);
    EXPECT_EQ(newest("stopped").step(), i);
  }
  stop = false;
  EXPECT_EQ(run("stopped", {}, true, 1, &stop).ending, Ending::Done);
  EXPECT_EQ(newest("stopped").step(), 20);
}

TEST_F(TrainerTest, ReadersDoNotChangeBits) {
  run("one", {"data.threads=1"});
  for (const char* threads : {"data.threads=0", "data.threads=3"}) {
    run(threads, {threads, "data.ahead=4"});
    const auto left = newest("one");
    const auto right = newest(threads);
    for (const std::string& name : left.names()) {
      EXPECT_TRUE(left.read(name).equal(right.read(name))) << threads << " " << name;
    }
  }
}

TEST_F(TrainerTest, AnotherRecipesCheckpointIsRefused) {
  run("first", {"train.steps=2"});
  try {
    run("first", {"train.batch=11"}, true);
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_NE(error.message().find("another recipe"), std::string::npos) << error.message();
  }
  EXPECT_EQ(newest("first").step(), 2);
}

TEST_F(TrainerTest, StopsWhereTheLossIsNotFinite) {
  for (const int ranks : {1, 2}) {
    const std::string folder = "stop" + std::to_string(ranks);
    try {
      run(folder, {"data.kind=poisoned", "checkpoint.every=1"}, false, ranks);
      ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Diverged) << error.what();
      EXPECT_NE(error.message().find("not finite"), std::string::npos) << error.message();
    }
    if (!fs::exists(at(folder) / "checkpoints")) continue;
    const auto found = checkpoint::Checkpoint::newest_whole(at(folder) / "checkpoints");
    if (!found.checkpoint) continue;
    for (const std::string& name : found.checkpoint->names()) {
      EXPECT_TRUE(found.checkpoint->read(name).isfinite().all().item<bool>()) << name;
    }
  }
}

TEST_F(TrainerTest, NamesTheFirstLayerThatIsNotFinite) {
  const Kinds kinds = tiny_kinds();
  Job job = open_job(tiny_config("mlp", {}, kinds), kinds);
  job.model->named_parameters()["layers.1.weight"].detach()[0][0] =
      std::numeric_limits<float>::infinity();
  Reporter silent({});
  Trainer trainer(job, {.output = at("named"), .reporter = &silent});
  try {
    trainer.run();
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Diverged);
    EXPECT_NE(error.message().find("layers.1.weight"), std::string::npos) << error.message();
  }
}

struct EdgeConfig {
  static void describe(config::Fields<EdgeConfig>&) {}
};

// The root of zero has a value but no slope: finite losses, gradients that are none.
Kinds edge_kinds() {
  Kinds kinds = tiny_kinds();
  kinds.models.add<EdgeConfig>("edge", "", [](const EdgeConfig&, const model::Facts& facts) {
    torch::nn::Linear layer(facts.form.input_count(), facts.form.classes);
    const torch::NoGradGuard no_grad;
    for (auto& parameter : layer->parameters()) parameter.zero_();
    return model::wrap(layer.ptr(), [](auto& net, const at::Tensor& x, const model::Context&) {
      return net.forward(x).abs().sqrt();
    });
  });
  return kinds;
}

TEST_F(TrainerTest, WeightsThatAreNotFiniteAreNeverSaved) {
  const Kinds kinds = edge_kinds();
  std::string recipe = tiny_recipe("mlp");
  recipe.replace(recipe.find("\"mlp\""), 5, "\"edge\"");
  recipe.erase(recipe.find("widths"), std::string("widths = [7, 5]").size());
  const config::Config config =
      config::read_config(recipe_schema(kinds),
                          {.files = {{"edge.toml", recipe}}, .overrides = {"checkpoint.every=1"}});
  for (const int ranks : {1, 2}) {
    std::vector<comm::Group> groups{comm::Group::solo()};
    if (ranks > 1) groups = comm::connect_threads(ranks);
    const std::string folder = "edge" + std::to_string(ranks);
    testing::run_rank_threads(ranks, [&](int rank) {
      Job job = open_job(config, kinds, groups[static_cast<std::size_t>(rank)]);
      Reporter silent({});
      Trainer trainer(job, {.output = at(folder), .reporter = &silent});
      try {
        trainer.run();
        ADD_FAILURE() << "it went on";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Diverged) << error.what();
        EXPECT_NE(error.message().find("weight"), std::string::npos) << error.message();
      }
      groups[static_cast<std::size_t>(rank)].barrier().wait();
    });
    const auto found = checkpoint::Checkpoint::newest_whole(at(folder) / "checkpoints");
    EXPECT_FALSE(found.checkpoint.has_value());
  }
}

// 20 steps of 10 out of 37 samples are 5 epochs of 4 steps: sample 5 comes 5 times.
TEST_F(TrainerTest, SkipsStepsThatAreNotFinite) {
  for (const int ranks : {1, 2, 3}) {
    const Ended ended = run("skip" + std::to_string(ranks),
                            {"data.kind=poisoned", "train.non_finite=skip"}, false, ranks);
    EXPECT_EQ(ended.progress.step, 20);
    EXPECT_EQ(ended.progress.updates, 15);
    for (const auto& [name, value] : ended.weights) {
      EXPECT_TRUE(value.isfinite().all().item<bool>()) << name;
    }
  }
}

TEST_F(TrainerTest, RollsBackToTheLastCheckpoint) {
  const Words words{"data.kind=poisoned", "train.non_finite=rollback", "checkpoint.every=2"};
  const Ended one = run("back1", words);
  EXPECT_EQ(one.progress.step, 20);
  EXPECT_LE(one.progress.updates, 15);
  for (const auto& [name, value] : one.weights) {
    EXPECT_TRUE(value.isfinite().all().item<bool>()) << name;
  }
  const Ended two = run("back2", words, false, 2);
  EXPECT_EQ(two.progress.updates, one.progress.updates);
}

TEST_F(TrainerTest, GivesUpAfterTooManyInARow) {
  Words words = diverging("optim.learning_rate=1000");
  words.insert(words.end(), {"train.non_finite=skip", "train.non_finite_max=3"});
  EXPECT_THROW(run("many", words), Error);
}

TEST_F(TrainerTest, EndsWhenNothingGetsBetter) {
  const Words words{"optim.kind=sgd", "optim.learning_rate=1e-12", "eval.every=1",
                    "eval.patience=3", "eval.metric=accuracy"};
  const Ended ended = run("patience", words);
  EXPECT_EQ(ended.ending, Ending::NoBetter);
  EXPECT_EQ(ended.progress.best_step, 1);
  EXPECT_EQ(ended.progress.step, 4);
  // It has no patience left when it is asked to go on.
  const Ended again = run("patience", words, true);
  EXPECT_EQ(again.ending, Ending::NoBetter);
  EXPECT_EQ(again.progress.step, 4);
  const Ended two = run("patience2", words, false, 2);
  EXPECT_EQ(two.progress.step, 4);
}

// A rate so large that the first evaluation stays the best.
TEST_F(TrainerTest, TheBestStaysBesideTheLast) {
  Words words = diverging("optim.learning_rate=2");
  words.insert(words.end(),
               {"eval.every=1", "checkpoint.every=1", "checkpoint.keep=1", "train.steps=9"});
  const Ended ended = run("best", words);
  ASSERT_LT(ended.progress.best_step, 9);
  EXPECT_EQ(checkpoints_in(at("best")), 2);
  EXPECT_EQ(newest("best").step(), 9);
  const auto best = checkpoint::Checkpoint::open(
      at("best") / "checkpoints" / checkpoint::format::folder_name(ended.progress.best_step));
  EXPECT_EQ(best.score(), ended.progress.best);
  Words without = words;
  without.emplace_back("checkpoint.keep_best=false");
  run("last", without);
  EXPECT_EQ(checkpoints_in(at("last")), 1);
}

// The last step is due for a checkpoint but not for an evaluation: it gets one first.
TEST_F(TrainerTest, TheLastCheckpointHasItsScore) {
  const Ended ended = run("score", {"checkpoint.every=4", "eval.every=3", "train.steps=8"});
  EXPECT_TRUE(newest("score").score().has_value());
  EXPECT_EQ(Progress::from_json(newest("score").meta()).best, ended.progress.best);
}

TEST_F(TrainerTest, AJobOfNoStepsIsSavedAsItBegan) {
  const Ended ended = run("none", {"train.steps=0"});
  EXPECT_EQ(ended.ending, Ending::Done);
  EXPECT_EQ(newest("none").step(), 0);
}

}  // namespace
}  // namespace trireme::train
