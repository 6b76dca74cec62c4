// Goal:   the real programs: a job killed at any moment and resumed ends with the bits of one that
//         was not; asked to stop it saves and ends; ranks as processes equal one; what is wrong is
//         refused before anything is written; eval, generate and explain answer.
// Method: `trireme` and its worker as a person runs them, on a tiny recipe. Workers are killed
//         (SIGKILL) a random moment after they began, or after the checkpoint that a round waited
//         for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "tests/train/process_fixture.h"
#include "trireme/base/random.h"
#include "trireme/train/evaluate/answers.h"
#include "trireme/train/report/progress.h"
#include "trireme/train/worker.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST_F(TrainProcess, KilledAtAnyMomentAndResumedEndsWithTheSameBits) {
  const Ran whole = train("whole");
  ASSERT_EQ(whole.code, 0) << whole.out << whole.error;
  for (const char* file : {"config.toml", "metrics.jsonl", "events.jsonl", "tensorboard"}) {
    EXPECT_TRUE(fs::exists(at("whole") / file)) << file;
  }
  fs::create_directories(at("killed"));
  Random random(17);
  for (int kill = 0; kill < 20; ++kill) {
    testing::CommandProcess worker(
        {.command = {build_folder() + "/trireme-worker", "train", "--recipe", recipe(), "--output",
                     at("killed").string(), "--resume"},
         .environment = {{"OMP_NUM_THREADS", "1"}, {"TRIREME_SIZE", "1"}}});
    if (kill % 5 == 4) {
      // While it starts, reads the checkpoint, or makes its first steps.
      std::this_thread::sleep_for(std::chrono::milliseconds(random.below(250)));
    } else {
      const Deadline patience = Deadline::after(1min);
      while (!has_checkpoint_from("killed", 2 * kill + 1) && !patience.is_past()) {
        std::this_thread::sleep_for(1ms);
      }
      ASSERT_TRUE(has_checkpoint_from("killed", 2 * kill + 1)) << worker.error();
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
    }
    worker.signal(SIGKILL);
    EXPECT_EQ(worker.wait_exit(Deadline::after(10s)), 128 + SIGKILL) << "kill " << kill;
  }
  EXPECT_LT(newest("killed").step(), newest("whole").step()) << "nothing was left to resume";
  const Ran rest = train("killed", {"--resume"});
  ASSERT_EQ(rest.code, 0) << rest.out << rest.error;
  expect_same_end("killed", "whole");
}

TEST_F(TrainProcess, RanksAsProcessesEqualOne) {
  ASSERT_EQ(train("one").code, 0);
  for (const char* ranks : {"2", "3"}) {
    const Ran many = train(ranks, {"-n", ranks});
    ASSERT_EQ(many.code, 0) << many.out << many.error;
    expect_same_end(ranks, "one");
  }
}

TEST_F(TrainProcess, AskedToEndSavesAndGoesOnLater) {
  {
    testing::CommandProcess job(
        trireme({"train", recipe(), "train.steps=100000000", "--output", at("ended").string(), "-n",
                 "2", "checkpoint.every=100000000"}));
    job.wait_for_output("step 3/", Deadline::after(1min));
    job.signal(SIGTERM);
    job.wait_exit(Deadline::after(1min));
    EXPECT_THAT(job.out(), HasSubstr("stopped after")) << job.error();
    EXPECT_THAT(job.error(), HasSubstr("trireme: continue with: cd " + fs::current_path().string() +
                                       " && " + build_folder() + "/trireme train " + recipe() +
                                       " train.steps=100000000 -n 2 checkpoint.every=100000000" +
                                       " --output " + at("ended").string() + " --resume\n"));
  }
  const std::int64_t step = newest("ended").step();
  EXPECT_GE(step, 3);
  const Ran more = train("ended", {"--resume", "train.steps=" + std::to_string(step + 5)});
  ASSERT_EQ(more.code, 0) << more.out << more.error;
  EXPECT_EQ(newest("ended").step(), step + 5);
  ASSERT_EQ(train("whole", {"train.steps=" + std::to_string(step + 5)}).code, 0);
  expect_same_end("ended", "whole", step + 5);
}

// A scheduler signals every process of a job, and the user may signal them too. The workers must
// treat repeated signals as one request.
TEST_F(TrainProcess, AskedToEndAgainAndAgainSavesAllTheSame) {
  fs::create_directories(at("ended"));
  {
    testing::CommandProcess worker(
        {.command = {build_folder() + "/trireme-worker", "train", "--recipe", recipe(), "--output",
                     at("ended").string(), "--set", "train.steps=100000000", "--set",
                     "checkpoint.every=100000000"},
         .environment = {{"OMP_NUM_THREADS", "1"}, {"TRIREME_SIZE", "1"}}});
    const Deadline patience = Deadline::after(1min);
    const fs::path metrics = at("ended") / "metrics.jsonl";
    while (!fs::exists(metrics) || read_file(metrics).find("\"step\":3") == std::string::npos) {
      ASSERT_FALSE(patience.is_past()) << worker.error();
      std::this_thread::sleep_for(1ms);
    }
    for (int time = 0; time < 10; ++time) {
      worker.signal(SIGTERM);
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_NE(worker.wait_exit(Deadline::after(1min)), 128 + SIGKILL);
    EXPECT_THAT(worker.out(), HasSubstr("stopped after")) << worker.error();
  }
  const std::int64_t step = newest("ended").step();
  EXPECT_GE(step, 3);
  const Ran more = train("ended", {"--resume", "train.steps=" + std::to_string(step + 5)});
  ASSERT_EQ(more.code, 0) << more.out << more.error;
  EXPECT_EQ(newest("ended").step(), step + 5);
}

TEST_F(TrainProcess, WhatIsWrongIsRefusedBeforeAnythingIsWritten) {
  const Ran wrong =
      train("wrong", {"train.global_batch_size=0", "train.speed=fast", "model.hidden_sizes=[0]"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.error, HasSubstr("train.global_batch_size"));
  EXPECT_THAT(wrong.error, HasSubstr("train.speed"));
  EXPECT_THAT(wrong.error, HasSubstr("model.hidden_sizes"));
  EXPECT_FALSE(fs::exists(at("wrong")));
  EXPECT_EQ(run({"train", (folder_.path() / "none.toml").string()}).code, 2);
  const Ran nowhere = run({"train", recipe(), "--output", "/dev/null/x"});
  EXPECT_EQ(nowhere.code, 2) << nowhere.error;
  EXPECT_THAT(nowhere.error, HasSubstr("/dev/null"));
  const Ran absent = train("wrong", {"-n", "2", "--chaos", "slow rank=5 factor=2"});
  EXPECT_EQ(absent.code, 2);
  EXPECT_THAT(absent.error, HasSubstr("--chaos: there is no rank 5; the job has ranks 0 to 1"));
  const Ran fixed = train("wrong", {"-n", "2", "--elastic", "--max-workers", "2", "--restarts", "0",
                                    "--chaos", "kill rank=2 step=1"});
  EXPECT_EQ(fixed.code, 2);
  EXPECT_THAT(fixed.error, HasSubstr("--chaos: there is no rank 2"));
  const Ran two = run({"predict", at("wrong").string(), "a.png", "b.png"});
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.error, HasSubstr("unexpected b.png: one INPUT is predicted; name a folder"));
}

TEST_F(TrainProcess, SettingsThatCannotBeCombinedAreRefusedBeforeAWorkerStarts) {
  const auto refused = [&](const Line& words, const std::vector<std::string>& names) {
    const Ran ran = words[0] == "explain" ? run(words) : train("refused", words);
    EXPECT_EQ(ran.code, 2) << ran.out << ran.error;
    EXPECT_FALSE(fs::exists(at("refused")));
    for (const std::string& name : names) EXPECT_THAT(ran.error, HasSubstr(name));
  };
  const std::vector<std::string> lossy{"sync.codec", "train.logical_ranks"};
  refused({"explain", recipe(), "sync.codec.kind=int8"}, lossy);
  refused({"-n", "2", "sync.codec.kind=int8"}, lossy);
  const std::vector<std::string> elastic{"sync.kind = \"none\" does not support elastic jobs",
                                         "use one of all_reduce, ", "elastic.enabled=false"};
  refused({"explain", recipe(), "sync.kind=none", "train.logical_ranks=0", "elastic.enabled=true"},
          elastic);
  refused({"-n", "2", "--elastic", "sync.kind=none", "train.logical_ranks=0"}, elastic);
  refused({"-n", "2", "--elastic", "balance.kind=static"}, {"balance.kind=proportional"});
  refused({"-n", "2", "train.logical_ranks=0", "sync.kind=local", "train.precision=bf16",
           "train.fallback_steps=3"},
          {"train.fallback_steps", "sync.kind = \"local\"", "zero1"});
  // One rank synchronizes nothing.
  EXPECT_EQ(train("alone", {"sync.codec.kind=int8", "train.steps=1"}).code, 0);
  EXPECT_EQ(run({"explain", at("alone").string()}).code, 0);
}

TEST_F(TrainProcess, AJobGoesOnWithItsOwnRecipeAlone) {
  ASSERT_EQ(train("job", {"train.steps=2"}).code, 0);
  const std::string config = read_file(at("job") / "config.toml");
  const Ran anew = train("job");
  EXPECT_EQ(anew.code, 2);
  EXPECT_THAT(anew.error, HasSubstr("--resume"));
  const Ran other = train("job", {"--resume", "train.global_batch_size=13"});
  EXPECT_EQ(other.code, 2) << other.out << other.error;
  EXPECT_THAT(other.error, HasSubstr("train.global_batch_size (12, now 13)"));
  EXPECT_THAT(other.error, HasSubstr("add --allow-changes train.global_batch_size;"));
  const Ran model = train(
      "job", {"--resume", "model.hidden_sizes=[8]", "--allow-changes", "train.global_batch_size"});
  EXPECT_EQ(model.code, 2) << model.out;
  EXPECT_THAT(model.error, HasSubstr("cannot be resumed with another model.hidden_sizes"));
  EXPECT_EQ(read_file(at("job") / "config.toml"), config);
  EXPECT_EQ(newest("job").step(), 2);
  EXPECT_EQ(train("job", {"train.logical_ranks=1", "-n", "2", "--output", at("few").string()}).code,
            2);
}

TEST_F(TrainProcess, AnswersAboutWhatWasTrained) {
  ASSERT_EQ(train("job").code, 0);
  const Ran scores = run({"eval", at("job").string(), "--json", "--save"});
  EXPECT_THAT(read_file(at("job") / "evaluation.json"), HasSubstr("\"matrix\":["));
  EXPECT_EQ(scores.code, 0) << scores.error;
  EXPECT_THAT(scores.out, HasSubstr("\"step\":60"));
  EXPECT_THAT(scores.out, HasSubstr("\"accuracy\":"));
  const Ran table = run({"eval", at("job").string()});
  EXPECT_THAT(table.out, HasSubstr("precision"));
  EXPECT_THAT(table.out, HasSubstr("confusion"));
  EXPECT_EQ(run({"generate", at("job").string()}).code, 2) << "no model of texts";
  for (const char* other : {"model.hidden_sizes=[8]", "model.hidden_sizes=[16,16]"}) {
    const Ran unlike = run({"eval", at("job").string(), other});
    EXPECT_EQ(unlike.code, 2) << unlike.out;
    EXPECT_THAT(unlike.error, HasSubstr("does not fit the model"));
  }
  EXPECT_EQ(run({"eval", at("nowhere").string()}).code, 2);
  const auto step_of = [&](const char* which) {
    return run({"eval", at("job").string(), "--json", "--checkpoint", which});
  };
  const std::int64_t best = Progress::from_json(newest("job").meta()).best_step;
  EXPECT_THAT(step_of("best").out, HasSubstr("\"step\":" + std::to_string(best) + ","));
  EXPECT_THAT(step_of("59").out, HasSubstr("\"step\":59,"));
  EXPECT_THAT(step_of("3").error, HasSubstr("it has those of steps"));
  EXPECT_THAT(step_of("worst").error, HasSubstr("use best, or the step"));
  // The newest checkpoint is damaged: the user is told which, why, and what is used instead.
  const fs::path part = newest("job").path() / "part-00000.safetensors";
  fs::resize_file(part, fs::file_size(part) - 1);
  const std::string file = (folder_.path() / "weights.safetensors").string();
  for (const Line& asked :
       {Line{"eval", at("job").string()}, Line{"checkpoint", "export", at("job").string(), file}}) {
    const Ran older = run(asked);
    EXPECT_EQ(older.code, 0) << older.error;
    EXPECT_THAT(older.error, HasSubstr("step-00000060 is damaged (" + part.string()));
    EXPECT_THAT(older.error, HasSubstr("; using step-00000059 instead"));
  }
}

TEST_F(TrainProcess, ALanguageModelWrites) {
  const std::string text = (folder_.path() / "text.txt").string();
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += "to be or not to be\n";
  write_file_atomically(text, lines);
  const std::string recipe = (folder_.path() / "gpt.toml").string();
  write_file_atomically(
      recipe,
      "[model]\nkind = \"gpt\"\nhidden_size = 8\nnum_layers = 1\nnum_heads = 2\n"
      "[data]\nkind = \"text\"\nseq_len = 8\n[train]\nglobal_batch_size = 8\nsteps = 20\n");
  const Ran trained =
      run({"train", recipe, "data.file=" + text, "--output", at("gpt").string(), "-n", "2"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.error;
  const Line words{"generate", at("gpt").string(), "--prompt", "to", "--count", "30"};
  const Ran first = run(words);
  EXPECT_EQ(first.code, 0) << first.error;
  EXPECT_EQ(first.out.size(), 2U + 30 + 1) << first.out;
  EXPECT_EQ(run(words).out, first.out) << "the same seed writes the same";
  const Ran empty = run({"generate", at("gpt").string(), "--prompt", "", "--count", "3"});
  EXPECT_EQ(empty.out.size(), 3U + 1) << empty.out << empty.error;
  const Ran wrong = run({"generate", at("gpt").string(), "--temperature", "nan"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.error, HasSubstr("--temperature nan"));
}

TEST_F(TrainProcess, TokensWithoutNamesAreNumbersAndWeightsGoOutAndIn) {
  const std::string recipe = (folder_.path() / "tokens.toml").string();
  write_file_atomically(
      recipe,
      "[model]\nkind = \"gpt\"\nhidden_size = 8\nnum_layers = 1\nnum_heads = 2\n[data]\n"
      "kind = \"synthetic\"\ntask = \"tokens\"\nsizes = [8]\nclasses = 300\n"
      "count = 20\ntest_count = 4\n[train]\nglobal_batch_size = 4\nsteps = 3\n");
  const Ran trained = run({"train", recipe, "--output", at("tokens").string()});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.error;
  const Ran more = run(
      {"generate", at("tokens").string(), "--prompt", "299 0", "--count", "12", "--top-k", "1"});
  EXPECT_EQ(more.code, 0) << more.error;
  std::istringstream numbers(more.out);
  int count = 0;
  for (std::int64_t token = 0; numbers >> token; ++count) EXPECT_LT(token, 300);
  EXPECT_EQ(count, 14) << more.out;

  const std::string file = (folder_.path() / "out.safetensors").string();
  const Ran out = run({"checkpoint", "export", at("tokens").string(), file});
  EXPECT_EQ(out.code, 0) << out.error;
  EXPECT_THAT(out.out, HasSubstr("of step 3"));
  const Ran in = run(
      {"train", recipe, "model.load=" + file, "train.steps=0", "--output", at("loaded").string()});
  EXPECT_EQ(in.code, 0) << in.out << in.error;
  const auto left = newest("tokens");
  const auto right = newest("loaded");
  EXPECT_TRUE(left.read("transformer.h.0.attn.c_attn.weight")
                  .equal(right.read("transformer.h.0.attn.c_attn.weight")));
  const Ran unlike = run({"train", recipe, "model.load=" + file, "model.hidden_size=16", "--output",
                          at("unlike").string()});
  EXPECT_EQ(unlike.code, 2) << unlike.out << unlike.error;
  EXPECT_THAT(unlike.out + unlike.error, HasSubstr("of other sizes"));
  EXPECT_EQ(run({"checkpoint", "export", at("tokens").string()}).code, 2);
}

TEST_F(TrainProcess, ExplainSaysWhereEverySettingComesFrom) {
  const Ran all = run({"explain", recipe(), "train.seed=9"});
  EXPECT_EQ(all.code, 0) << all.error;
  EXPECT_THAT(all.out, HasSubstr("[optim]"));
  EXPECT_THAT(all.out, HasSubstr("max_grad_norm"));
  EXPECT_THAT(all.out, HasSubstr("tiny.toml:"));
  EXPECT_THAT(run({"explain", recipe(), "train.seed=9", "--key", "train.seed"}).out,
              HasSubstr("9"));
  EXPECT_EQ(run({"explain", recipe(), "--key", "train.sed"}).code, 2);
  EXPECT_THAT(run({"explain", "--list"}).out, HasSubstr("weight_decay"));
  EXPECT_EQ(run({"explain"}).code, 2);
  fs::create_directory(at("job"));
  const Ran none = run({"explain", at("job").string()});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.error, HasSubstr("is a folder without a config.toml"));
  fs::copy_file(recipe(), at("job") / "config.toml");
  const Ran job = run({"explain", at("job").string(), "train.seed=9"});
  EXPECT_EQ(job.code, 0) << job.error;
  EXPECT_THAT(job.out, HasSubstr("config.toml:"));
}

TEST_F(TrainProcess, ExplainShowsTheMesh) {
  const std::string gpt = at("gpt.toml").string();
  write_file_atomically(gpt, R"(
[model]
kind = "gpt"
hidden_size = 8
num_layers = 3
num_heads = 2
[data]
kind = "synthetic"
task = "tokens"
sizes = [6]
classes = 5
count = 20
[train]
global_batch_size = 4
steps = 1
[parallel]
tensor = 2
)");
  const Ran mesh = run({"explain", gpt, "-n", "4", "sync.kind=zero1"});
  EXPECT_EQ(mesh.code, 0) << mesh.error;
  EXPECT_THAT(mesh.out, HasSubstr("mesh: data = 2 x tensor = 2\n"));
  EXPECT_THAT(mesh.out, HasSubstr("\ntransformer.h.0-2.attn.c_attn.weight "));
  const Ran hosts = run({"explain", gpt, "--hosts", "near:2,far:2", "--json"});
  EXPECT_EQ(hosts.code, 0) << hosts.error;
  EXPECT_THAT(hosts.out, HasSubstr("\"host\": \"far\""));
  EXPECT_THAT(run({"explain", recipe(), "-n", "2"}).out, HasSubstr("data-parallel replica"));
  for (const Line& wrong : {Line{"-n", "3"}, Line{"-n", "2", "--hosts", "near:3"},
                            Line{"-n", "2", "--key", "train.seed"}}) {
    Line words{"explain", gpt};
    words.insert(words.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(run(words).code, 2) << wrong.back();
  }
}

}  // namespace
}  // namespace trireme::train
