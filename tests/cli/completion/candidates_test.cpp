// Goal:   every unfinished command line is completed with what can stand there, and nothing else.
// Method: commands, jobs and settings made up by the test.

#include "trireme/cli/completion/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace trireme::cli::completion {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

enum class Color { Red, Green };

struct PaintConfig {
  Color color = Color::Red;
  bool is_wet = false;
  int layers = 1;

  static void describe(config::Fields<PaintConfig>& f) {
    f.add("color", &PaintConfig::color).names({{"red", Color::Red}, {"green", Color::Green}});
    f.add("is_wet", &PaintConfig::is_wet).help("needs time");
    f.add("layers", &PaintConfig::layers);
  }
};

struct OilConfig {
  int layers = 1;

  static void describe(config::Fields<OilConfig>& f) { f.add("layers", &OilConfig::layers); }
};

config::Schema schema_of(const std::string& worker) {
  if (worker == "broken") throw std::runtime_error("no worker");
  config::Schema schema;
  schema.section("train", "how long").fields<OilConfig>();
  auto& paint = schema.section(worker.empty() ? "paint" : worker, "what is painted");
  paint.kind<PaintConfig>("water", "thin").kind<OilConfig>("oil", "thick");
  schema.section("sync").kind<OilConfig>("zero1", "").kind<PaintConfig>("zero2", "");
  return schema;
}

class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    commands_.push_back(
        {.name = "train",
         .summary = "Train",
         .examples = {},
         .options =
             {{.names = "-n,--ranks", .value = "N", .help = "number"},
              {.names = "--resume", .value = "auto", .help = "continue", .is_value_optional = true},
              {.names = "--bind", .value = "auto|none", .help = ""},
              {.names = "--checkpoint", .value = "best|N", .help = ""},
              {.names = "--worker", .value = "PROGRAM", .help = ""},
              {.names = "--allow", .value = "KEY,KEY", .help = ""},
              {.names = "--sync", .value = "STRATEGY", .help = ""},
              {.names = "--elastic", .help = ""}},
         .arguments = {{.value = "RECIPE"}},
         .words = CommandInput{.value = "key=value"}});
    commands_.push_back({.name = "explain",
                         .summary = "Explain",
                         .examples = {},
                         .words = CommandInput{.value = "[RECIPE] key=value"}});
    commands_.push_back(
        {.name = "stop", .summary = "", .examples = {}, .arguments = {{.value = "JOB"}}});
    commands_.push_back({.name = "run",
                         .summary = "",
                         .examples = {},
                         .options = {{.names = "-n", .value = "N"}},
                         .program = CommandInput{.value = "PROGRAM"}});
    commands_.push_back({.name = "submit",
                         .summary = "",
                         .examples = {},
                         .options = {{.names = "--nodes", .value = "N"}},
                         .program = CommandInput{.value = "train|run"}});
    commands_.push_back({.name = "bench comm", .summary = "Measure", .examples = {}});
    commands_.push_back({.name = "bench codec", .summary = "", .examples = {}});
    commands_.push_back({.name = "inner", .summary = "", .examples = {}, .is_hidden = true});
  }

  Candidates all(const Words& words) const {
    const CandidateSources sources{
        .jobs = [] { return std::vector<Candidate>{{"brisk-heron"}, {"demo"}}; },
        .schema = schema_of};
    return candidates(commands_, words, sources);
  }
  Words words(const Words& line) const {
    Words found;
    for (const Candidate& one : all(line).words) found.push_back(one.word);
    return found;
  }
  Files files(const Words& line) const { return all(line).files; }

  std::vector<Syntax> commands_;
};

TEST_F(CompletionTest, CommandsByTheirBeginnings) {
  EXPECT_THAT(words({""}), ElementsAre("train", "explain", "stop", "run", "submit", "bench"));
  EXPECT_THAT(words({"s"}), ElementsAre("stop", "submit"));
  EXPECT_EQ(all({"tr"}).words.front().help, "Train");
  EXPECT_THAT(words({"bench", ""}), ElementsAre("comm", "codec"));
  EXPECT_THAT(words({"bench", "com"}), ElementsAre("comm"));
  EXPECT_THAT(words({"help", "st"}), ElementsAre("stop"));
  EXPECT_THAT(words({"help", "bench", "cod"}), ElementsAre("codec"));
  EXPECT_THAT(words({"--v"}), ElementsAre("--version"));
  EXPECT_THAT(words({"elephant", ""}), IsEmpty());
}

TEST_F(CompletionTest, OptionsAndTheirClosedSets) {
  EXPECT_THAT(words({"train", "--r"}), ElementsAre("--ranks", "--resume"));
  EXPECT_THAT(words({"bench", "comm", "-"}), ElementsAre("-h", "--help"));
  EXPECT_THAT(words({"train", "--bind", ""}), ElementsAre("auto", "none"));
  EXPECT_THAT(words({"train", "--bind=n"}), ElementsAre("--bind=none"));
  EXPECT_THAT(words({"train", "--resume="}), ElementsAre("--resume=auto"));
  EXPECT_THAT(words({"train", "--checkpoint", ""}), ElementsAre("best")) << "N is not a word";
  EXPECT_THAT(words({"train", "-n", ""}), IsEmpty());
  EXPECT_THAT(words({"train", "--nonsense=a"}), IsEmpty());
}

TEST_F(CompletionTest, FilesWhereAValueIsOne) {
  EXPECT_EQ(files({"train", ""}), Files::Recipes);
  EXPECT_EQ(files({"train", "-n", "2", "--resume", "--elastic", ""}), Files::Recipes);
  EXPECT_EQ(files({"train", "--worker", ""}), Files::Programs);
  EXPECT_EQ(files({"train", "--worker="}), Files::Programs);
  EXPECT_EQ(files({"train", "-n", ""}), Files::None);
  EXPECT_EQ(files({"train", "x.toml", ""}), Files::None);
}

TEST_F(CompletionTest, OneOptionalArgument) {
  commands_.push_back({.name = "new",
                       .summary = "",
                       .examples = {},
                       .words = CommandInput{.value = "DIR", .is_single = true}});
  EXPECT_EQ(files({"new", ""}), Files::Folders);
  EXPECT_EQ(files({"new", "a", ""}), Files::None);
}

TEST_F(CompletionTest, RunningJobs) {
  EXPECT_THAT(words({"stop", ""}), ElementsAre("brisk-heron", "demo"));
  EXPECT_THAT(words({"stop", "d"}), ElementsAre("demo"));
  EXPECT_THAT(words({"stop", "demo", ""}), IsEmpty());
}

TEST_F(CompletionTest, SettingsInThreeSteps) {
  EXPECT_THAT(words({"train", "x.toml", ""}), ElementsAre("train.", "paint.", "sync."));
  EXPECT_THAT(words({"train", "x.toml", "paint."}),
              ElementsAre("paint.kind=", "paint.color=", "paint.is_wet=", "paint.layers="));
  EXPECT_THAT(words({"train", "x.toml", "paint.kind="}),
              ElementsAre("paint.kind=water", "paint.kind=oil"));
  EXPECT_THAT(words({"train", "x.toml", "paint.color=g"}), ElementsAre("paint.color=green"));
  EXPECT_THAT(words({"train", "x.toml", "paint.is_wet="}),
              ElementsAre("paint.is_wet=true", "paint.is_wet=false"));
  EXPECT_THAT(words({"train", "x.toml", "paint.layers="}), IsEmpty());
  EXPECT_EQ(all({"train", "x.toml", "paint.is"}).words.front().help, "needs time");
  EXPECT_EQ(files({"explain", ""}), Files::Recipes);
  EXPECT_THAT(words({"explain", "tr"}), ElementsAre("train."));
}

TEST_F(CompletionTest, SettingsOfTheNamedWorker) {
  EXPECT_THAT(words({"train", "--worker", "mine", "x.toml", "mi"}), ElementsAre("mine."));
  EXPECT_THAT(words({"train", "--worker=mine", "x.toml", "mi"}), ElementsAre("mine."));
  EXPECT_THROW(words({"train", "--worker", "broken", "x.toml", ""}), std::runtime_error);
  EXPECT_THAT(words({"train", "--worker", "broken", "--bi"}), ElementsAre("--bind"))
      << "settings are read only where they are needed";
}

TEST_F(CompletionTest, KeysAndStrategies) {
  EXPECT_THAT(words({"train", "--allow", "train.l"}), ElementsAre("train.layers"));
  EXPECT_THAT(words({"train", "--allow", "paint.color,train.l"}),
              ElementsAre("paint.color,train.layers"));
  EXPECT_THAT(words({"train", "--allow=train.l"}), ElementsAre("--allow=train.layers"));
  EXPECT_THAT(words({"train", "--sync", "z"}), ElementsAre("zero1", "zero2"));
}

TEST_F(CompletionTest, TheProgramAndItsWords) {
  EXPECT_EQ(files({"run", ""}), Files::Programs);
  EXPECT_EQ(files({"run", "-n", "4", "--", "py"}), Files::Programs);
  EXPECT_EQ(files({"run", "python", "-n"}), Files::Any);
  EXPECT_THAT(words({"run", "python", "-"}), IsEmpty());
  EXPECT_THAT(words({"run", "-"}), ElementsAre("-n", "-h", "--help"));
  EXPECT_THAT(words({"submit", "--nodes", "2", "--", ""}), ElementsAre("train", "run"));
  EXPECT_THAT(words({"submit", "--", "train", "--el"}), ElementsAre("--elastic"));
  EXPECT_EQ(files({"submit", "train", ""}), Files::Recipes);
}

}  // namespace
}  // namespace trireme::cli::completion
