// Goal:   a user's program is the worker: its model trains, is explained, evaluated, and a mistake
//         in its settings is refused before anything starts; ranks that were given different
//         recipes say in what they differ. The same holds for a synchronization strategy, for a
//         data source and for a loss.
// Method: the examples of a model, a strategy, a data source and a loss of one's own, and the
//         built-in worker, as a person runs them.

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/train/process_fixture.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class OwnWorker : public TrainProcess {
 protected:
  OwnWorker() {
    std::string text = kTinyRecipe;
    const std::size_t begin = text.find("[model]");
    const std::size_t end = text.find("[data]");
    text.replace(begin, end - begin, "[model]\nkind = \"tower\"\nhidden_size = 5\n");
    write_file_atomically(recipe(), text);
  }
  const std::string worker_ = build_folder() + "/examples/04_own_model";
};

TEST_F(OwnWorker, TrainsIsExplainedAndEvaluated) {
  const Ran explained = run({"explain", recipe(), "--worker", worker_});
  ASSERT_EQ(explained.code, 0) << explained.error;
  EXPECT_THAT(explained.out, HasSubstr("floors"));
  EXPECT_THAT(explained.out, HasSubstr("each adding to the one below"));

  const Ran trained = train("tower", {"--worker", worker_, "train.steps=8", "model.floors=2"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.error;
  const auto names = newest("tower").names();
  EXPECT_THAT(names, ::testing::Contains("floor1.weight"));
  EXPECT_THAT(names, Not(::testing::Contains("floor2.weight")));

  const Ran scored = run({"eval", at("tower").string(), "--worker", worker_, "--json"});
  ASSERT_EQ(scored.code, 0) << scored.error;
  EXPECT_THAT(scored.out, HasSubstr("accuracy"));
}

TEST_F(OwnWorker, RefusesWhatItsFieldsForbid) {
  const Ran refused = train("refused", {"--worker", worker_, "model.floors=0"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.error, HasSubstr("model.floors"));
  EXPECT_FALSE(fs::exists(at("refused")));
  // The built-in worker has no such model; the message says which option names another worker.
  const Ran unknown = train("unknown");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.error, HasSubstr("\"tower\" is none of"));
  EXPECT_THAT(unknown.error, HasSubstr("name the program with --worker PROGRAM"));
  EXPECT_THAT(unknown.error, Not(HasSubstr("hidden_size")));
}

TEST_F(TrainProcess, AStrategyOfTheProgramIsExplainedTrainsAndResumes) {
  const Line own{"--worker", build_folder() + "/examples/07_own_strategy", "sync.kind=clipped",
                 "train.logical_ranks=0"};
  const auto with = [&](Line words, const Line& more = {}) {
    words.insert(words.end(), own.begin(), own.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Ran explained = run(with({"explain", recipe()}));
  EXPECT_THAT(explained.out, HasSubstr("of the gradient of one rank")) << explained.error;
  const Ran trained = train("clipped", with({"-n", "2"}, {"sync.max_norm=0.5", "train.steps=8"}));
  EXPECT_EQ(trained.code, 0) << trained.error;
  const Ran resumed =
      train("clipped", with({"-n", "2", "--resume"}, {"sync.max_norm=0.5", "train.steps=12"}));
  EXPECT_EQ(resumed.code, 0) << resumed.error;
  for (const Ran& refused : {train("refused", with({"-n", "2"}, {"sync.codec.kind=int8"})),
                             run(with({"explain", recipe()}, {"sync.codec.kind=int8"}))}) {
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.error, HasSubstr("\"clipped\" does not support a codec (sync.codec)"));
  }
  EXPECT_FALSE(fs::exists(at("refused")));
  const Ran fp16 = run(with({"explain", recipe()}, {"train.precision=fp16"}));
  EXPECT_THAT(fp16.error, HasSubstr("\"clipped\" does not support train.precision = \"fp16\""));
  const Ran named =
      run(with({"explain", recipe()}, {"sync.kind=none", "balance.kind=proportional"}));
  EXPECT_THAT(named.error, HasSubstr(", clipped, or set balance.kind=off"));
}

// The network learns the spirals, so inputs and labels reach it as the source wrote them.
TEST_F(TrainProcess, ADataSourceOfTheProgramIsExplainedAndLearned) {
  const Line worker{"--worker", build_folder() + "/examples/08_own_data"};
  const auto with = [&](Line words) {
    words.insert(words.end(), worker.begin(), worker.end());
    return run(words);
  };
  const std::string spirals = source_folder() + "/examples/08_own_data.toml";
  const Ran explained = with({"explain", spirals});
  ASSERT_EQ(explained.code, 0) << explained.error;
  EXPECT_THAT(explained.out, HasSubstr("turns of each spiral"));
  const Ran trained = with({"train", spirals, "-n", "2", "--output", at("spirals").string()});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.error;
  const Ran scored = with({"eval", at("spirals").string(), "--json"});
  ASSERT_EQ(scored.code, 0) << scored.error;
  EXPECT_GT(nlohmann::json::parse(scored.out).at("accuracy").get<double>(), 0.9) << scored.out;
  const Ran refused = with({"explain", spirals, "data.turns=0"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.error, HasSubstr("data.turns"));
}

TEST_F(TrainProcess, ALossOfTheProgramIsExplainedAndResumes) {
  const Line worker{"--worker", build_folder() + "/examples/10_own_loss"};
  const std::string quantile = source_folder() + "/examples/10_own_loss.toml";
  const auto with = [&](Line words, const Line& more = {}) {
    words.insert(words.end(), worker.begin(), worker.end());
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const Ran explained = with({"explain", quantile});
  EXPECT_THAT(explained.out, HasSubstr("targets that are below the prediction"));
  const std::string output = at("quantile").string();
  const Line train{"train", quantile, "-n", "2", "--output", output};
  EXPECT_EQ(with(train, {"train.steps=8"}).code, 0);
  EXPECT_EQ(with(train, {"--resume", "train.steps=12"}).code, 0);
  const Ran changed = with(train, {"--resume", "train.steps=16", "loss.quantile=0.5"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.error, HasSubstr("loss.quantile"));
}

TEST_F(TrainProcess, RanksWithOtherRecipesSayInWhat) {
  const std::string words = "[ $TRIREME_RANK = 0 ] && kind=shared || kind=all_reduce; exec " +
                            build_folder() + "/trireme-worker train --recipe " + recipe() +
                            " --output " + at("mixed").string() + " --set sync.kind=$kind";
  const Ran mixed = run({"run", "-n", "2", "--grace", "0", "--", "sh", "-c", words});
  EXPECT_NE(mixed.code, 0);
  EXPECT_THAT(mixed.error, HasSubstr("sync.kind (\"shared\", now \"all_reduce\")"));
}

}  // namespace
}  // namespace trireme::train
