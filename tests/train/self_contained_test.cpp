// Goal:   a trained job can be used from any folder and without its training data: eval with other
//         data, generate, export, predict. Predictions keep the order of the input and name each
//         sample; errors in an input are reported, and do not change an existing output file.
// Method: tiny jobs trained by the real program on relative paths, whose data are then deleted;
//         questions are put to the worker within this process, from another folder.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/train/process_fixture.h"
#include "trireme/base/bytes.h"
#include "trireme/base/config/reader.h"
#include "trireme/data/png/png.h"
#include "trireme/model/wrap.h"
#include "trireme/net/auth/secret.h"
#include "trireme/train/evaluate/prediction.h"
#include "trireme/train/evaluate/prediction_writer.h"
#include "trireme/train/worker.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class SelfContained : public TrainProcess {
 protected:
  // In `data/`, which only training sees.
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((at("data") / name).parent_path());
    write_file_atomically(at("data") / name, text);
  }
  // Like a user in the folder of the data, with relative paths.
  void train_there(const std::string& recipe) const {
    write("recipe.toml", recipe);
    testing::CommandProcess process(
        {.command = {"/bin/sh", "-c",
                     "cd " + at("data").string() + " && exec " + build_folder() +
                         "/trireme train recipe.toml --output ../job"},
         .environment = {{"OMP_NUM_THREADS", "1"}}});
    ASSERT_EQ(process.wait_exit(Deadline::after(std::chrono::minutes(2))), 0)
        << process.out() << process.error();
    fs::remove_all(at("data"));
  }
  // The worker's answer about the job.
  Ran ask(Line words) const {
    words.insert(words.begin() + 1, {"--output", at("job").string()});
    words.insert(words.begin(), "trireme-worker");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = run_worker(static_cast<int>(argv.size()), argv.data(), built_in_kinds());
    std::string out = ::testing::internal::GetCapturedStdout();
    return {code, std::move(out), ::testing::internal::GetCapturedStderr()};
  }
  std::string input(const std::string& name, const std::string& text) const {
    write_file_atomically(at(name), text);
    return at(name).string();
  }
};

std::string table_of_signs() {
  std::string text = "x,colour,sign\n";
  for (int i = 1; i <= 20; ++i) {
    text += std::to_string(i) + ",red,\"plus, or more\"\n-" + std::to_string(i) + ",blue,minus\n";
  }
  return text;
}

TEST_F(SelfContained, TablesAreEvaluatedAndPredictedByWhatTheCheckpointKnows) {
  write("signs.csv", table_of_signs());
  train_there(
      "[model]\nkind = \"mlp\"\nhidden_sizes = [4]\n[data]\nkind = \"csv\"\ntrain = \"signs.csv\"\n"
      "targets = [\"sign\"]\ncategories = [\"colour\"]\n[loss]\nkind = \"cross_entropy\"\n"
      "balanced = true\n[train]\nglobal_batch_size = 12\nsteps = 60\n[optim]\nkind = \"adamw\"\n"
      "lr = 0.05\n");
  EXPECT_THAT(read_file(at("job") / "config.toml"), HasSubstr((at("data") / "signs.csv").string()));
  const std::string test = input("test.csv", "sign,colour,x\nminus,blue,-7\nminus,blue,-3\n");
  const Ran scores = ask({"eval", "--set", "data.test=" + test, "--json"});
  EXPECT_EQ(scores.code, 0) << scores.error;
  EXPECT_THAT(scores.out, HasSubstr("\"accuracy\":1"));
  const Ran moved = ask({"eval"});
  EXPECT_EQ(moved.code, 2);
  EXPECT_THAT(moved.error, ContainsRegex("data.train: .*signs.csv does not exist.*data.test=PATH"));

  const std::string good = input("new.csv", "more,colour,x\n?,blue,-9\n?,red,8\n?,green,-9\n");
  const Ran rows = ask({"predict", "--input", good});
  EXPECT_EQ(rows.code, 0) << rows.error;
  EXPECT_THAT(rows.out, StartsWith("line,predicted,probability,p_minus,\"p_plus, or more\"\n"
                                   "2,minus,0."));
  EXPECT_THAT(rows.out, HasSubstr("\n3,\"plus, or more\",0."));
  EXPECT_THAT(rows.out, HasSubstr("\n4,minus,0.")) << "a category that was never trained on";
  const std::string out = at("out.jsonl").string();
  const Ran program = run({"predict", at("job").string(), good, "--format", "jsonl", "-o", out});
  EXPECT_EQ(program.code, 0) << program.error;
  EXPECT_THAT(read_file(out), StartsWith("{\"line\":2,\"predicted\":\"minus\",\"probability\":0."));

  const std::string before = read_file(out);
  const Ran wrong =
      ask({"predict", "--input", input("bad.csv", "colour,x\nred,1\nred,one\n"), "--file", out});
  EXPECT_EQ(wrong.code, 2) << wrong.out;
  EXPECT_THAT(wrong.error, ContainsRegex("bad.csv.*3.*x"));
  EXPECT_THAT(wrong.error, Not(HasSubstr("data.categories"))) << "the model has its columns";
  EXPECT_EQ(read_file(out), before) << "a failure does not change an existing file";
  const Ran less = ask({"predict", "--input", input("less.csv", "colour,y\nred,1\n")});
  EXPECT_EQ(less.code, 2);
  EXPECT_THAT(less.error, HasSubstr("no column 'x'; its columns are: colour, y."));
  EXPECT_EQ(ask({"predict", "--input", at("none.csv").string()}).code, 2);
  EXPECT_THAT(ask({"predict", "--input", at("").string()}).error,
              HasSubstr("this model reads rows of a table"));
  const Ran nowhere = ask({"predict", "--input", good, "--file", at("gone/x.csv").string()});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.error, HasSubstr("gone does not exist. Create it, or name another file"));
  EXPECT_EQ(ask({"predict", "--input", good, "--file", at("job").string()}).code, 2);
  EXPECT_EQ(ask({"predict", "--input", good, "--format", "xml"}).code, 2);
  EXPECT_EQ(ask({"export", "--file", at("out.safetensors").string()}).code, 0);
}

TEST_F(SelfContained, TextsAreContinuedAndScored) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "to be or not to be\n";
  write("text.txt", lines);
  train_there(
      "[model]\nkind = \"gpt\"\nhidden_size = 8\nnum_layers = 1\nnum_heads = 2\n[data]\nkind = "
      "\"text\"\n"
      "file = \"text.txt\"\nseq_len = 8\n[train]\nglobal_batch_size = 8\nsteps = 20\n");
  const Ran written = ask({"generate", "--prompt", "to", "--count", "9"});
  EXPECT_EQ(written.code, 0) << written.error;
  EXPECT_EQ(written.out.size(), 2U + 9 + 1) << written.out;
  const std::string other = input("other.txt", "not to be or be not or to be or\n");
  const Ran scores = ask(
      {"eval", "--set", "data.file=" + other, "--set", "data.validation_fraction=0.9", "--json"});
  EXPECT_EQ(scores.code, 0) << scores.error;
  EXPECT_THAT(scores.out, HasSubstr("\"perplexity\":"));
  const Ran rows =
      ask({"predict", "--input", input("lines.txt", "to be or no\n\nt"), "--format", "jsonl"});
  EXPECT_EQ(rows.code, 0) << rows.error;
  EXPECT_THAT(rows.out, ContainsRegex("\"line\":1,\"predicted\":\".\",\"probability\":0[^,]*,"
                                      "\"loss\":[0-9.]*}"));
  EXPECT_THAT(rows.out, ContainsRegex("\"line\":3,.*\"loss\":null")) << "nothing to foresee";
  const Ran strange = ask({"predict", "--input", input("strange.txt", "to be\nto xe\n")});
  EXPECT_EQ(strange.code, 2);
  EXPECT_THAT(strange.error, HasSubstr("strange.txt:2: the character 'x' is not in the vocabulary "
                                       "that the model was trained with. Remove or replace it"));
  EXPECT_EQ(strange.out, "") << "no rows of the lines before it";
}

TEST_F(SelfContained, AKeyIsFoundFromEveryFolder) {
  net::Secret::generate().save(at("key"));
  write("signs.csv", table_of_signs());
  train_there(
      "[model]\nkind = \"mlp\"\nhidden_sizes = [4]\n[data]\nkind = \"csv\"\ntrain = \"signs.csv\"\n"
      "targets = [\"sign\"]\ncategories = [\"colour\"]\n[train]\nglobal_batch_size = 12\nsteps = "
      "5\n"
      "[checkpoint]\nkey_file = \"../key\"\n");
  EXPECT_THAT(read_file(at("job") / "config.toml"), HasSubstr("\"" + at("key").string() + "\""));
  const Ran rows = ask({"predict", "--input", input("new.csv", "colour,x\nblue,-9\n")});
  EXPECT_EQ(rows.code, 0) << rows.error;
  write("signs.csv", table_of_signs());
  const Ran resumed = run({"train", (at("job") / "config.toml").string(), "--output",
                           at("job").string(), "--resume", "train.steps=6"});
  EXPECT_EQ(resumed.code, 0) << resumed.error;
}

std::string picture(std::uint8_t grey) {
  const data::image::Pixels pixels{
      .channels = 1, .height = 6, .width = 5, .bytes = std::vector<std::uint8_t>(30, grey)};
  return std::string(text_of(data::png::encode(pixels)));
}

TEST_F(SelfContained, PicturesArePredictedFromAFileOrAFolder) {
  for (int i = 0; i < 8; ++i) {
    write("all/bright/" + std::to_string(i) + ".png", picture(static_cast<std::uint8_t>(255 - i)));
    write("all/dark/" + std::to_string(i) + ".png", picture(static_cast<std::uint8_t>(i)));
  }
  train_there(
      "[model]\nkind = \"mlp\"\nhidden_sizes = [4]\n[data]\nkind = \"images\"\ntrain = \"all\"\n"
      "size = [4, 4]\ngrayscale = true\nmean = [0.5]\nstd = [0.5]\n[train]\nglobal_batch_size = "
      "8\nsteps = 60\n"
      "[optim]\nkind = \"adamw\"\nlr = 0.05\n");
  fs::create_directories(at("new/inner"));
  const std::string bright = input("new/b.png", picture(250));
  input("new/inner/a.png", picture(3));
  input("new/a.png", picture(5));
  const Ran rows = ask({"predict", "--input", at("new").string()});
  EXPECT_EQ(rows.code, 0) << rows.error;
  EXPECT_THAT(rows.out, ContainsRegex("^file,predicted,probability,p_bright,p_dark\n"
                                      "a.png,dark,.*\nb.png,bright,.*\ninner/a.png,dark,"));
  EXPECT_THAT(ask({"predict", "--input", bright}).out, HasSubstr("\nb.png,bright,"));
  const Ran table = ask({"predict", "--input", input("f.csv", "a,b\n1,2\n")});
  EXPECT_EQ(table.code, 2);
  EXPECT_THAT(table.error, HasSubstr("f.csv is not an image, and this model reads images"));
  input("new/c.png", "no picture");
  const Ran wrong = ask({"predict", "--input", at("new").string()});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.error, HasSubstr("c.png"));
  EXPECT_THAT(wrong.error, HasSubstr("set data.bad_samples = \"skip\""));
  const Ran skipped =
      ask({"predict", "--input", at("new").string(), "--set", "data.bad_samples=skip"});
  EXPECT_EQ(skipped.code, 0) << skipped.error;
  EXPECT_THAT(skipped.out, ContainsRegex("\nb.png,bright,.*\nc.png,,,,\ninner/a.png,dark,"));
  EXPECT_THAT(skipped.error, HasSubstr("1 of 4 samples have no prediction"));
  const Ran none = ask(
      {"predict", "--input", input("only.png", "no picture"), "--set", "data.bad_samples=skip"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.error, HasSubstr("none of the 1 samples can be predicted"));
}

TEST_F(SelfContained, RowsWithMissingValuesStayInTheOutput) {
  std::string table = "x,price\n";
  for (int i = 0; i < 20; ++i) table += std::to_string(i) + "," + std::to_string(3 * i) + "\n";
  write("prices.csv", table);
  train_there(
      "[model]\nkind = \"mlp\"\nhidden_sizes = [4]\n[data]\nkind = \"csv\"\ntrain = "
      "\"prices.csv\"\n"
      "targets = [\"price\"]\ntask = \"regression\"\n[train]\nglobal_batch_size = 10\nsteps = 5\n");
  const std::string gaps = input("gaps.csv", "x\nNA\n1\nNA\n?\n4\nNA\n");
  const Ran refused = ask({"predict", "--input", gaps});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.error, HasSubstr("gaps.csv:2: expected a number"));
  EXPECT_THAT(refused.error, HasSubstr("or set data.missing = \"drop\": they then have no"));
  const Ran rows = ask({"predict", "--input", gaps, "--set", "data.missing=drop"});
  EXPECT_EQ(rows.code, 0) << rows.error;
  EXPECT_THAT(rows.out,
              ContainsRegex("^line,predicted\n2,\n3,[-.0-9e]+\n4,\n5,\n6,[-.0-9e]+\n7,\n$"));
  EXPECT_THAT(rows.error, HasSubstr("4 of 6 samples have no prediction; their rows are empty"));
  EXPECT_THAT(
      ask({"predict", "--input", gaps, "--set", "data.missing=drop", "--format", "jsonl"}).out,
      StartsWith("{\"line\":2,\"predicted\":null}\n{\"line\":3,\"predicted\":"));
  const Ran unknown = ask({"predict", "--input", gaps, "--set", "data.missing=mean"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.error, HasSubstr("the model was trained with data.missing = \"error\""));
}

// Of a model that knows the token after each, by the one before: windows change nothing.
TEST(PredictLines, ALongLineIsScoredFromItsBeginning) {
  const TemporaryFolder folder("lines");
  const data::Form form{.input_sizes = {4},
                        .input_type = at::kLong,
                        .target_sizes = {4},
                        .classes = 3,
                        .class_names = {"a", "b", "c"}};
  std::int64_t longest = 0;
  const TrainedModel trained{
      .folder = {},
      .config = config::read_config(recipe_schema(built_in_kinds()), {}),
      .data = {.source = form, .form = form},
      .model =
          model::wrap(std::make_shared<torch::nn::Module>(),
                      [&](torch::nn::Module&, const at::Tensor& tokens, const model::Context&) {
                        longest = std::max(longest, tokens.size(1));
                        return at::one_hot((tokens + 1).remainder(3), 3).to(at::kFloat) * 2;
                      })};
  const double right = std::log(std::exp(2.0) + 2) - 2, wrong = right + 2;
  // The first of these has its surprises where the last window does not reach.
  for (const auto& [line, loss] :
       {std::pair<std::string, double>{"aaaabcabcabca", (3 * wrong + 9 * right) / 12},
        {"abcab", right},
        {"abcaa", (wrong + 3 * right) / 4},
        {"abca", right},
        {"ab", right}}) {
    write_file_atomically(folder.path() / "in.txt", line + "\n");
    PredictionWriter writer({.file = folder.path() / "out.csv"});
    predict_lines(trained, folder.path() / "in.txt", writer);
    writer.finish();
    const std::string out = read_file(folder.path() / "out.csv");
    EXPECT_NEAR(std::stod(out.substr(out.rfind(',') + 1)), loss, 1e-5) << line;
  }
  EXPECT_EQ(longest, 4) << "the model's context";
}

TEST(PredictionWriter, WritesNothingAndQuotesWhereItMust) {
  const TemporaryFolder folder("predictions");
  const PredictionRow row{
      {"line", std::int64_t{7}}, {"a\"b", std::string("x\ny")}, {"none", {}}, {"nan", std::nan("")},
      {"value", 0.1F},           {"wide", 1700000000.125}};
  for (const auto& [name, expected] :
       {std::pair{"csv", "line,\"a\"\"b\",none,nan,value,wide\n7,\"x\ny\",,,0.1,1700000000.125\n"},
        std::pair{"jsonl",
                  "{\"line\":7,\"a\\\"b\":\"x\\ny\",\"none\":null,\"nan\":null,"
                  "\"value\":0.1,\"wide\":1700000000.125}\n"}}) {
    PredictionWriter writer({.format = prediction_format(name), .file = folder.path() / name});
    writer.write(row);
    EXPECT_FALSE(fs::exists(folder.path() / name));
    writer.finish();
    EXPECT_EQ(read_file(folder.path() / name), expected);
  }
}

}  // namespace
}  // namespace trireme::train
