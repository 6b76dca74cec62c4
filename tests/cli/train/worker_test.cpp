// Goal:   the worker program is found and accepted only if it describes itself, and a recipe is
//         checked against its description.
// Method: shell scripts as workers in the test's own folder.

#include "trireme/cli/train/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "trireme/base/config/schema_json.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cli/train/answer.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct TowerConfig {
  int floors = 3;

  static void describe(config::Fields<TowerConfig>& f) {
    f.add("floors", &TowerConfig::floors).range(1, 9).help("how high");
  }
};

std::string description() {
  config::Schema schema;
  schema.section("model", "what is trained").kind<TowerConfig>("tower", "a tower");
  return config::schema_json(schema);
}

class WorkerProgram : public ::testing::Test {
 protected:
  std::string script(const std::string& name, const std::string& text) const {
    const fs::path path = folder_.path() / name;
    write_file_atomically(path, "#!/bin/sh\n" + text);
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  std::string recipe(const std::string& text) const {
    const fs::path path = folder_.path() / "recipe.toml";
    write_file_atomically(path, text);
    return path.string();
  }
  static std::string complaint(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  TemporaryFolder folder_{"worker-test"};
};

TEST_F(WorkerProgram, DescribesItsSettings) {
  // A name that requires quoting in a shell.
  const Worker worker(
      script("my 'own' worker", "[ \"$1\" = describe ] && cat <<'X'\n" + description() + "\nX\n"));
  const RecipeWords words{.recipe = recipe("[model]\nkind = \"tower\"\nfloors = 5\n"),
                          .overrides = {"model.floors=7"}};
  const config::Config config = words.read(worker);
  EXPECT_EQ(to_plain(config.setting("model.floors")->value), "7");
  EXPECT_THAT(config.setting("model.floors")->origin, HasSubstr("override"));
  const RecipeWords wrong{.recipe = words.recipe, .overrides = {"model.floors=12", "model.x=1"}};
  const std::string text = complaint([&] { wrong.read(worker); });
  EXPECT_THAT(text, HasSubstr("model.floors"));
  EXPECT_THAT(text, HasSubstr("model.x"));
}

TEST_F(WorkerProgram, ADescriptionFileIsUsedUntilTheProgramIsRebuilt) {
  const std::string path = script("worker", "echo nothing\n");
  write_file_atomically(path + ".json", description());
  EXPECT_NE(Worker(path).schema().find("model"), nullptr);
  fs::last_write_time(path, fs::last_write_time(path + ".json") + std::chrono::seconds(5));
  EXPECT_THAT(complaint([&] { Worker(path).schema(); }), HasSubstr("is no worker"));
}

TEST_F(WorkerProgram, AProgramThatIsNoWorkerIsReported) {
  EXPECT_THAT(complaint([&] { Worker(script("mute", "exit 0\n")).schema(); }),
              HasSubstr("run_worker"));
  EXPECT_FALSE(complaint([&] { Worker((folder_.path() / "none").string()); }).empty());
}

TEST_F(WorkerProgram, ArgumentsReachTheProgramUnchanged) {
  Command command("eval", "", "");
  const auto words = answer_words(command, "eval");
  command.option("--count", "N", "", hand_on(words, "--count"));
  command.action([] { return 0; });
  EXPECT_EQ(command.run({"runs/x", "a.b=1", "--count", "3", "--checkpoint", "7"}), 0);
  EXPECT_EQ(words->verb, "eval");
  EXPECT_EQ(words->output, "runs/x");
  EXPECT_EQ(words->overrides, (std::vector<std::string>{"a.b=1"}));
  std::vector<std::string> options = words->options;
  std::sort(options.begin(), options.end());
  EXPECT_EQ(options, (std::vector<std::string>{"--checkpoint", "--count", "3", "7"}));
}

}  // namespace
}  // namespace trireme::cli
