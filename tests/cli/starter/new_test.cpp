// Goal:   `trireme new` writes a recipe that names the data and says why, asks where nothing was
//         said, and never overwrites a file.
// Method: the real command on small data; its recipes are read as TOML.
// tests/train/new_recipe_test.cpp
//         trains them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/starter/look.h"
#include "trireme/cli/starter/starter_recipe.h"

namespace trireme::cli::starter {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class NewTest : public ::testing::Test {
 protected:
  NewTest() {
    std::string table = "length,colour,species\n";
    for (int i = 0; i < 30; ++i) {
      table += std::to_string(i % 7) + "," + (i % 2 == 0 ? "white" : "violet") + "," +
               (i % 3 == 0 ? "rose" : "iris") + "\n";
    }
    write_file_atomically(at("my flowers.csv"), table);
    std::string text;
    for (int i = 0; i < 100; ++i) text += "To be, or not to be, that is the question.\n";
    write_file_atomically(at("input.txt"), text);
    for (const char* name : {"train/cat/1.jpg", "train/dog/1.PNG", "train/dog/2.png",
                             "val/cat/3.jpg", "val/dog/4.jpg"}) {
      fs::create_directories(at("pets") / fs::path(name).parent_path());
      write_file_atomically(at("pets") / name, "");
    }
  }
  fs::path at(const std::string& name) const { return folder_.path() / name; }

  int run(std::vector<std::string> words) {
    words.insert(words.begin(), at("out").string());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = new_command().run(words);
    out_ = ::testing::internal::GetCapturedStdout();
    error_ = ::testing::internal::GetCapturedStderr();
    return code;
  }
  std::string recipe(const std::string& name) const {
    const std::string text = read_file(at("out") / name);
    EXPECT_NO_THROW(config::load_config(at("out") / name)) << text;
    return text;
  }

  TemporaryFolder folder_{"new-test"};
  std::string out_, error_;
};

TEST_F(NewTest, WritesARecipeForATable) {
  ASSERT_EQ(run({"--data", at("my flowers.csv").string()}), 0) << error_;
  EXPECT_THAT(out_, HasSubstr("my_flowers.toml, which predicts the class in column \"species\" (2 "
                              "classes) from 2 columns"));
  EXPECT_THAT(out_, HasSubstr("--target chooses another column"));
  EXPECT_THAT(out_, HasSubstr("my_flowers.toml --output runs/my_flowers\n"));
  const std::string text = recipe("my_flowers.toml");
  EXPECT_THAT(text, HasSubstr("train = \"" + at("my flowers.csv").string() + "\""));
  EXPECT_THAT(text, HasSubstr("targets = [\"species\"]"));
  EXPECT_THAT(text, HasSubstr("categories = [\"colour\"]"));
  EXPECT_THAT(text, HasSubstr("task = \"classification\""));
  EXPECT_THAT(text, Not(HasSubstr("\ninputs =")));
  fs::remove_all(at("out"));
  ASSERT_EQ(run({"--data", at("my flowers.csv").string(), "--target=length", "--predict=number"}),
            0);
  EXPECT_THAT(recipe("my_flowers.toml"), HasSubstr("task = \"regression\""));
}

TEST_F(NewTest, NeverOverwritesAFile) {
  ASSERT_EQ(run({"--data", at("input.txt").string()}), 0) << error_;
  write_file_atomically(at("out") / "input.toml", "mine");
  EXPECT_EQ(run({"--data", at("input.txt").string()}), 2);
  EXPECT_THAT(error_, HasSubstr("input.toml exists already"));
  EXPECT_EQ(read_file(at("out") / "input.toml"), "mine");
}

TEST_F(NewTest, WritesRecipesForPicturesAndTexts) {
  ASSERT_EQ(run({"--data", at("pets").string() + "/"}), 0) << error_;
  const std::string pets = recipe("pets.toml");
  EXPECT_THAT(pets, HasSubstr("train = \"" + (at("pets") / "train").string() + "\""));
  EXPECT_THAT(pets, HasSubstr("test = \"" + (at("pets") / "val").string() + "\""));
  fs::remove_all(at("out"));
  ASSERT_EQ(run({"--data", (at("pets") / "train").string()}), 0) << error_;
  EXPECT_THAT(recipe("pets.toml"), HasSubstr("folds = 2 "));
  ASSERT_EQ(run({"--data", at("input.txt").string()}), 0) << error_;
  EXPECT_THAT(recipe("input.toml"), HasSubstr("unit = \"character\""));
  write_file_atomically(at("latin.txt"), std::string(3000, '\xe9'));
  ASSERT_EQ(run({"--data", at("latin.txt").string()}), 0) << error_;
  EXPECT_THAT(recipe("latin.toml"), HasSubstr("unit = \"byte\""));
}

TEST_F(NewTest, SaysWhatIsWrongAndWritesNothing) {
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(error_, HasSubstr("--data is missing"));
  EXPECT_EQ(run({"--data", at("gone").string()}), 2);
  EXPECT_THAT(error_, HasSubstr("there is no such file or folder"));
  EXPECT_EQ(run({"--data", at("pets").string(), "--task", "text"}), 2);
  EXPECT_THAT(error_, HasSubstr("needs a file"));
  EXPECT_EQ(run({"--data", at("input.txt").string(), "--target", "x"}), 2);
  EXPECT_THAT(error_, HasSubstr("are for --task tabular"));
  EXPECT_EQ(run({"--task", "sounds"}), 2);
  EXPECT_THAT(error_, HasSubstr("tabular, images, text"));
  EXPECT_EQ(run({"second", "--data", at("input.txt").string()}), 2);
  EXPECT_THAT(error_, HasSubstr("unexpected argument second"));
  write_file_atomically(at("short.txt"), "short");
  EXPECT_EQ(run({"--data", at("short.txt").string()}), 2);
  EXPECT_THAT(error_, HasSubstr("too few"));
  fs::remove_all(at("pets") / "train" / "cat");
  EXPECT_EQ(run({"--data", at("pets").string()}), 2);
  EXPECT_THAT(error_, HasSubstr("one folder of pictures"));
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST(GuessTask, ByTheName) {
  const TemporaryFolder folder("guess-task");
  for (const char* name : {"a.CSV", "a.tsv", "a.jsonl", "a.ndjson"}) {
    write_file_atomically(folder.path() / name, "");
    EXPECT_EQ(guess_task(folder.path() / name), Task::Tabular) << name;
  }
  write_file_atomically(folder.path() / "a.txt", "");
  EXPECT_EQ(guess_task(folder.path() / "a.txt"), Task::Text);
  EXPECT_EQ(guess_task(folder.path()), Task::Images);
}

}  // namespace
}  // namespace trireme::cli::starter
