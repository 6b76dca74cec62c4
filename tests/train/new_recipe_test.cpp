// Goal:   the recipes that `trireme new` writes are accepted by `trireme explain` and train; at a
//         terminal the command asks for what it was not told.
// Method: the real programs on small data of every task, for a few steps each; answers typed at a
//         pseudo-terminal.

#include "tests/train/process_fixture.h"
#include "trireme/base/build_info.h"
#include "trireme/data/png/png.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class NewRecipe : public TrainProcess {
 protected:
  void write_table() const {
    std::string text = "id,rooms,town,price\n";
    for (int i = 0; i < 60; ++i) {
      text += std::to_string(i) + "," + (i == 3 ? "" : std::to_string(1 + i % 5)) + "," +
              (i % 3 == 0 ? "North" : "South") + "," + std::to_string(1000 + 37 * i) + "\n";
    }
    write_file_atomically(at("houses.csv"), text);
  }

  // Writes the recipe, explains it and trains it for three steps.
  void expect_to_train(const Line& options, const std::string& name) const {
    Line words{"new", at("out").string()};
    words.insert(words.end(), options.begin(), options.end());
    const Ran written = run(words);
    ASSERT_EQ(written.code, 0) << written.error;
    const std::string recipe = (at("out") / (name + ".toml")).string();
    const Ran explained = run({"explain", recipe});
    EXPECT_EQ(explained.code, 0) << explained.error;
    const Ran trained = run({"train", recipe, "--output", at(name).string(), "train.epochs=0",
                             "train.steps=3", "eval.every=3", "train.global_batch_size=4",
                             "checkpoint.every=3", "train.num_threads=1"});
    EXPECT_EQ(trained.code, 0) << trained.error << read_file(recipe);
    EXPECT_THAT(trained.out, HasSubstr("evaluation at step 3"));
    fs::remove(recipe);
  }
};

TEST_F(NewRecipe, OfATableTrains) {
  write_table();
  expect_to_train({"--data", at("houses.csv").string(), "--target", "town"}, "houses");
  fs::remove_all(at("houses"));
  expect_to_train({"--data", at("houses.csv").string()}, "houses");
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    lines +=
        "{\"a\": " + std::to_string(i % 7) + ", \"b\": " + (i % 2 == 0 ? "true" : "false") + "}\n";
  }
  write_file_atomically(at("table.jsonl"), lines);
  expect_to_train({"--data", at("table.jsonl").string()}, "table");
}

TEST_F(NewRecipe, OfATextTrains) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text +=
        "Gr\xc3\xbc\xc3\x9f"
        "e, line " +
        std::to_string(i) + ".\n";
  write_file_atomically(at("input.txt"), text);
  expect_to_train({"--data", at("input.txt").string()}, "input");
}

TEST_F(NewRecipe, OfPicturesTrains) {
  for (const base::BuildPart& part : base::build_info().parts) {
    if (part.name == "png" && !part.is_on()) GTEST_SKIP() << "this build reads no PNG files";
  }
  for (const char* name : {"cat", "dog"}) {
    fs::create_directories(at("pets") / name);
    for (int i = 0; i < 4; ++i) {
      const data::image::Pixels picture{
          .channels = 3,
          .height = 40,
          .width = 50,
          .bytes = std::vector<std::uint8_t>(40 * 50 * 3, static_cast<std::uint8_t>(60 * i))};
      write_file_atomically(at("pets") / name / (std::to_string(i) + ".png"),
                            data::png::encode(picture));
    }
  }
  expect_to_train({"--data", at("pets").string()}, "pets");
}

TEST_F(NewRecipe, IsAskedForAtATerminal) {
  write_table();
  auto options = trireme({"new", at("out").string()});
  options.is_terminal = true;
  testing::CommandProcess process(options);
  const auto soon = [] { return Deadline::after(std::chrono::minutes(1)); };
  process.wait_for_output("a text file: ", soon());
  process.type(at("houses.csv").string() + "\n");
  process.wait_for_output("[tabular]: ", soon());
  process.type("\n");
  process.wait_for_output("[price]: ", soon());
  process.type("twon\ntown\n");
  process.wait_for_output("'twon' is none of them", soon());
  process.wait_for_output("[class]: ", soon());
  process.type("\n");
  EXPECT_EQ(process.wait_exit(soon()), 0) << process.out();
  EXPECT_THAT(read_file(at("out") / "houses.toml"), HasSubstr("targets = [\"town\"]"));
  EXPECT_EQ(process.out().find('\x1b'), std::string::npos) << "no escape codes";
}

}  // namespace
}  // namespace trireme::train
