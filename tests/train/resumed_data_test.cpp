// Goal:   a job that is resumed after its data changed in place goes on with the statistics that it
//         began with, and is refused where names contradict its weights; nothing is refitted in
//         silence.
// Method: the real program on small tables and texts, rewritten or moved between two runs; and a
//         Trainer whose data were opened without the checkpoint's record.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "tests/folders.h"
#include "tests/train/process_fixture.h"
#include "tests/train/trainer_fixture.h"
#include "trireme/train/resumption.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string table_of(int offset, const std::string& town = "B", int rows = 20) {
  std::string text = "x,town,price\n";
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i + offset) + "," + (i % 2 == 0 ? "A" : town) + "," +
            std::to_string(100 * i + offset) + "\n";
  }
  return text;
}

class ResumedData : public TrainProcess {
 protected:
  void write(const std::string& text) const { write_file_atomically(at("t.csv"), text); }
  Ran train(const Line& more) const {
    Line words{"train", at("table.toml").string(), "--output", at("job").string(),
               "data.train=" + at("t.csv").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  data::Preprocessing saved() const { return *preprocessing_in(newest("job").meta()); }

  void SetUp() override {
    write_file_atomically(at("table.toml"),
                          "[model]\nkind = \"mlp\"\nhidden_sizes = [4]\n[data]\nkind = \"csv\"\n"
                          "targets = [\"price\"]\ntask = \"regression\"\n"
                          "categories = [\"town\"]\n[train]\nglobal_batch_size = 6\n");
    write(table_of(0));
  }
};

TEST_F(ResumedData, KeepsTheStatisticsOfTheCheckpoint) {
  ASSERT_EQ(train({"train.steps=4"}).code, 0);
  const std::string before = saved().to_json();
  const Ran same = train({"train.steps=5", "--resume"});
  EXPECT_EQ(same.code, 0) << same.error;
  EXPECT_THAT(same.out, Not(HasSubstr("has changed"))) << "the same file";
  write(table_of(1000));
  for (const Line& more : {Line{"train.steps=6"}, Line{"train.steps=7", "--elastic", "-n", "2"}}) {
    Line words = more;
    words.emplace_back("--resume");
    const Ran resumed = train(words);
    EXPECT_EQ(resumed.code, 0) << resumed.out << resumed.error;
    EXPECT_THAT(resumed.out,
                HasSubstr("t.csv has changed since the job was trained: column \"x\""));
    EXPECT_EQ(saved().to_json(), before) << "not fitted anew";
  }
  EXPECT_EQ(newest("job").step(), 7);
}

TEST_F(ResumedData, IsRefusedWhereNamesContradictTheWeights) {
  ASSERT_EQ(train({"train.steps=4"}).code, 0);
  write(table_of(0, "C"));
  const Ran refused = train({"train.steps=6", "--resume"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.error, HasSubstr("t.csv has changed since the job was trained: column "
                                       "\"town\" has the new category \"C\""));
  EXPECT_THAT(refused.error, HasSubstr("begin a new job with another --output"));
  EXPECT_EQ(newest("job").step(), 4);
  // Another reason for other names comes first.
  const Ran settings =
      train({"train.steps=6", "--resume", "data.inputs=[\"x\"]", "data.categories=[]"});
  EXPECT_EQ(settings.code, 2);
  EXPECT_THAT(settings.error, HasSubstr("was written with other settings: data.categories"));
}

// The rest of the epoch that the checkpoint was in is gone.
TEST_F(ResumedData, GoesOnWithTheNextEpochWhereSamplesAreGone) {
  ASSERT_EQ(train({"train.steps=2", "data.test_fraction=0"}).code, 0);
  const auto position = [&] { return Progress::from_json(newest("job").meta()).position; };
  ASSERT_EQ(position(), (data::Position{.epoch = 0, .cursor = 12}));
  write(table_of(0, "B", 10));
  const Ran resumed = train({"train.steps=3", "data.test_fraction=0", "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.out << resumed.error;
  EXPECT_THAT(resumed.out,
              HasSubstr("the training data have 10 samples now, and 12 of epoch 0 were "
                        "used already: continuing with epoch 1"));
  EXPECT_EQ(position(), (data::Position{.epoch = 1, .cursor = 6}));
}

// Its micro-batches would have other samples than those of the other workers.
TEST_F(ResumedData, AWorkerWithOtherDataIsRefusedAndTheElasticJobContinues) {
  testing::CommandProcess process(
      trireme({"train", at("table.toml").string(), "--output", at("job").string(),
               "data.train=" + at("t.csv").string(), "train.steps=1000000", "data.test_fraction=0",
               "checkpoint.every=1000000", "--elastic", "-n", "2", "--restarts", "1"}));
  process.wait_for_output("step ", Deadline::after(std::chrono::seconds(60)));
  write(table_of(0, "B", 10));
  const auto is_worker = [](pid_t pid) {
    const std::string file = "/proc/" + std::to_string(pid) + "/cmdline";
    return read_file(file).find("trireme-worker") != std::string::npos;
  };
  const std::vector<pid_t> all = state_.processes();
  const auto worker = std::find_if(all.begin(), all.end(), is_worker);
  ASSERT_NE(worker, all.end());
  ASSERT_EQ(::kill(*worker, SIGKILL), 0);
  process.wait_for_output("worker 2 is not replaced", Deadline::after(std::chrono::seconds(60)));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait_exit(Deadline::after(std::chrono::seconds(60))), 143) << process.error();
  EXPECT_THAT(process.error(),
              HasSubstr("the training data of this worker (10 samples) differ from "
                        "those of rank 0 (20 samples)"));
}

// The checkpoint has the tokenizer: another place is no other tokenizer.
TEST_F(ResumedData, ATokenizerMayMoveAndNotChange) {
  const fs::path published = fs::path(source_folder()) / "tests/data/tokenizer/published";
  write_file_atomically(at("bpe.json"), read_file(published / "gpt2.json"));
  std::string text;
  for (int i = 0; i < 60; ++i) text += "to be or not to be, that is the question\n";
  write_file_atomically(at("t.txt"), text);
  write_file_atomically(
      at("text.toml"),
      "[model]\nkind = \"gpt\"\nhidden_size = 8\nnum_layers = 1\nnum_heads = 2\n[data]\n"
      "kind = \"text\"\nseq_len = 8\nvalidation_fraction = 0\n[train]\nglobal_batch_size = 4\n");
  const auto train = [&](const std::string& tokenizer, const Line& more) {
    Line words{"train",
               at("text.toml").string(),
               "--output",
               at("job").string(),
               "data.file=" + at("t.txt").string(),
               "data.tokenizer=" + tokenizer};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  ASSERT_EQ(train(at("bpe.json").string(), {"train.steps=2"}).code, 0);
  fs::rename(at("bpe.json"), at("moved.json"));
  const Ran gone = train(at("bpe.json").string(), {"train.steps=3", "--resume"});
  EXPECT_EQ(gone.code, 2);
  EXPECT_THAT(gone.error, HasSubstr("data.tokenizer: " + at("bpe.json").string() +
                                    " does not exist. Correct the path"));
  const Ran moved = train(at("moved.json").string(), {"train.steps=3", "--resume"});
  EXPECT_EQ(moved.code, 0) << moved.error;
  const Ran other = train((published / "llama2.json").string(), {"train.steps=4", "--resume"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.error, HasSubstr("data.tokenizer is another tokenizer"));
}

TEST(AllowedChanges, AreNamesOfSettingsThatCanChange) {
  const config::Config config = tiny_config("mlp", {});
  EXPECT_EQ(allowed_changes("optim.lr,train.global_batch_size", config),
            (std::vector<std::string>{"optim.lr", "train.global_batch_size"}));
  const auto refusal = [&](const std::string& keys) {
    try {
      allowed_changes(keys, config);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(refusal("train.global_batch_size,optim.weight_decoy"),
              HasSubstr("--allow-changes optim.weight_decoy: there is no such setting; did you "
                        "mean optim.weight_decay? "));
  EXPECT_THAT(refusal("optim.lr=3"),
              HasSubstr("name only the setting, and give its value beside it: "
                        "optim.lr=3 --allow-changes optim.lr"));
  EXPECT_THAT(refusal("train.seed"), HasSubstr("a resumed job cannot change this setting"));
}

class ResumedTrainer : public TrainerTest {
 protected:
  TrainingOutcome run_with(const std::string& text, bool is_resumed) {
    write_file_atomically(folder_.path() / "t.csv", text);
    const config::Config config = config::read_config(
        recipe_schema(tiny_kinds()),
        {.files =
             {{"table.toml",
               "[model]\nkind = \"mlp\"\nhidden_sizes = [4]\n[data]\nkind = \"csv\"\ntrain = \"" +
                   (folder_.path() / "t.csv").string() +
                   "\"\ntargets = [\"price\"]\ntask = \"regression\"\n"
                   "categories = [\"town\"]\n[train]\nglobal_batch_size = 6\n"}},
         .overrides = {is_resumed ? "train.steps=6" : "train.steps=4"}});
    Job job = open_job(config, tiny_kinds());
    Reporter silent({});
    return Trainer(job, {.output = at("job"), .is_resumed = is_resumed, .reporter = &silent}).run();
  }
};

TEST_F(ResumedTrainer, RefusesDataThatWereOpenedWithoutTheRecord) {
  EXPECT_EQ(run_with(table_of(0), false), TrainingOutcome::Done);
  try {
    run_with(table_of(1000), true);
    ADD_FAILURE() << "trained on other numbers";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_THAT(error.message(), HasSubstr("the training data differ from those that"));
    EXPECT_THAT(error.message(), HasSubstr("column \"x\" had mean"));
  }
  EXPECT_EQ(run_with(table_of(0), true), TrainingOutcome::Done);
}

}  // namespace
}  // namespace trireme::train
