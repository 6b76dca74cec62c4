// Goal:   what a user of the programs sees: a view that is redrawn in place on a terminal, a
//         message if a resumed job may not do what the user expects, readable names, and no files
//         of a recipe that was refused.
// Method: the real programs on a tiny recipe; script(1) lends them a terminal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <sstream>

#include "tests/train/process_fixture.h"
#include "trireme/train/report/progress.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class TrainPeople : public TrainProcess {
 protected:
  // In a terminal of its own.
  static Ran run_in_terminal(const std::string& line) {
    testing::CommandProcess process({.command = {"script", "-qec", line, "/dev/null"},
                                     .environment = {{"OMP_NUM_THREADS", "1"}, {"TERM", "xterm"}}});
    const int code = process.wait_exit(Deadline::after(std::chrono::minutes(1)));
    return {code, process.out(), process.error()};
  }

  static Ran run_in_shell(const std::string& line) {
    testing::CommandProcess process(
        {.command = {"sh", "-c", line}, .environment = {{"OMP_NUM_THREADS", "1"}}});
    const int code = process.wait_exit(Deadline::after(std::chrono::minutes(1)));
    return {code, process.out(), process.error()};
  }

  // A failure is told in the last lines, and where a worker was lost some time before.
  static int count_of(const std::string& words, const std::string& text) {
    int count = 0;
    for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++count;
    return count;
  }

  // The rest of the line.
  static std::string after(const std::string& text, const std::string& words) {
    const std::size_t at = text.find(words);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + words.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  std::string text_recipe() const {
    const std::string path = (folder_.path() / "gpt.toml").string();
    write_file_atomically(
        path,
        "[model]\nkind = \"gpt\"\nhidden_size = 8\nnum_layers = 1\nnum_heads = 2\n"
        "[data]\nkind = \"text\"\nseq_len = 8\n[train]\nglobal_batch_size = 8\nsteps = 2\n");
    return path;
  }
};

TEST_F(TrainPeople, ATerminalShowsAViewThatIsRedrawn) {
  const Ran seen = run_in_terminal(build_folder() + "/trireme train " + recipe() + " --output " +
                                   at("seen").string() + " train.steps=2000 eval.every=500" +
                                   " checkpoint.every=1000 -n 2");
  EXPECT_EQ(seen.code, 0) << seen.out;
  EXPECT_THAT(seen.out, HasSubstr("2000/2000"));
  EXPECT_THAT(seen.out, HasSubstr("\x1b[")) << "nothing was redrawn";
  EXPECT_THAT(seen.out, HasSubstr("evaluation at step 500"));
  EXPECT_THAT(seen.out, Not(HasSubstr("[0] "))) << "lines that went through the launcher";
  EXPECT_TRUE(std::ranges::all_of(seen.out, [](char c) {
    return static_cast<unsigned char>(c) < 128;
  })) << "a terminal need not know UTF-8";
}

TEST_F(TrainPeople, NoColorAndColumnsAreRespected) {
  const Ran seen = run_in_terminal("NO_COLOR=1 COLUMNS=40 " + build_folder() + "/trireme train " +
                                   recipe() + " --output " + at("plain").string() +
                                   " train.steps=1000 eval.every=500 checkpoint.every=1000");
  EXPECT_EQ(seen.code, 0) << seen.out;
  EXPECT_THAT(seen.out, HasSubstr("\x1b[J")) << "nothing was redrawn";
  EXPECT_THAT(seen.out, Not(HasSubstr("\x1b[32m")));
  std::istringstream lines(seen.out);
  for (std::string line; std::getline(lines, line);) {
    // The lines of the view, without the codes that move the cursor.
    line.erase(0, line.rfind("\x1b[J") == std::string::npos ? 0 : line.rfind("\x1b[J") + 3);
    const bool is_view = line.starts_with("[=") || line.starts_with("loss ");
    EXPECT_LE(is_view ? line.size() : 0u, 41u) << line;
  }
}

TEST_F(TrainPeople, AResumedJobSaysWhatAChangedNumberOfStepsMeans) {
  ASSERT_EQ(train("job", {"train.steps=20", "schedule.kind=cosine"}).code, 0);
  const Ran done = train("job", {"--resume", "train.steps=10", "schedule.kind=cosine"});
  EXPECT_EQ(done.code, 0) << done.error;
  EXPECT_THAT(done.out + done.error, HasSubstr("has made 20 steps"));
  EXPECT_THAT(done.out + done.error, HasSubstr("asks for 10"));
  const Ran longer = train("job", {"--resume", "train.steps=30", "schedule.kind=cosine"});
  EXPECT_EQ(longer.code, 0) << longer.error;
  EXPECT_THAT(longer.out + longer.error, HasSubstr("the job had 20 steps and has 30 now"));
  ASSERT_EQ(train("even", {"train.steps=20"}).code, 0);
  EXPECT_THAT(train("even", {"--resume", "train.steps=25"}).out, Not(HasSubstr("the job had")));
}

TEST_F(TrainPeople, AFinishedJobKeepsItsConfig) {
  ASSERT_EQ(train("job", {"train.steps=4"}).code, 0);
  const std::string config = read_file(at("job") / "config.toml");
  EXPECT_EQ(train("job", {"--resume", "train.steps=2"}).code, 0);
  EXPECT_EQ(read_file(at("job") / "config.toml"), config);
  EXPECT_EQ(run({"eval", at("job").string()}).code, 0);
}

TEST_F(TrainPeople, AFolderWithoutACheckpointIsResumedOnlyWhereThatIsWanted) {
  const Ran typo = train("typo", {"--resume"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_THAT(typo.error, HasSubstr("typo has no checkpoint to resume from"));
  EXPECT_FALSE(fs::exists(at("typo")));
  EXPECT_THAT(train("typo", {"--resume=always"}).error, HasSubstr("--resume or --resume=auto"));
  const Ran begun = train("typo", {"--resume=auto", "train.steps=2"});
  EXPECT_EQ(begun.code, 0) << begun.error;
  EXPECT_THAT(begun.out, HasSubstr("beginning at step 0"));
  EXPECT_EQ(train("typo", {"--resume=auto", "train.steps=3"}).code, 0);
  EXPECT_EQ(newest("typo").step(), 3);
}

// A person copies what is printed into a shell, wherever that is. Lines diverge at this rate within
// a few steps, and not at a tenth of it.
TEST_F(TrainPeople, WhatAFailureAdvisesWorks) {
  const Line words{"data.task=regression",
                   "model.hidden_sizes=[]",
                   "optim.kind=sgd",
                   "optim.momentum=0",
                   "train.steps=1000",
                   "checkpoint.every=10",
                   "optim.max_grad_norm=0",
                   "-n",
                   "2"};
  for (const bool is_elastic : {false, true}) {
    const std::string job = is_elastic ? "elastic job" : "plain job";
    Line all = words;
    all.emplace_back("optim.lr=0.9");
    if (is_elastic) all.emplace_back("--elastic");
    const Ran diverged = train(job, all);
    EXPECT_EQ(diverged.code, 1) << diverged.out << diverged.error;
    const std::string said = diverged.out + diverged.error;
    EXPECT_EQ(count_of("is not finite", said), 1 + count_of(" was lost: ", said)) << said;
    EXPECT_THAT(said,
                HasSubstr("The last checkpoint is of step " + std::to_string(newest(job).step()) +
                          ". Continue from it with a lower optim.lr (it is "
                          "0.9), optim.max_grad_norm=1.0 (clipping is off) or "
                          "train.non_finite=skip"));
    const std::string skipping =
        after(diverged.error, "trireme: or leave out the steps that are not finite: ");
    EXPECT_THAT(skipping,
                EndsWith("train.non_finite=skip --output '" + at(job).string() + "' --resume"));
    const std::string gentler = after(
        diverged.error, "trireme: continue with a lower learning rate and clipped gradients: ");
    const Ran resumed = run_in_shell("cd / && " + gentler + " train.steps=150");
    EXPECT_EQ(resumed.code, 0) << gentler << resumed.out << resumed.error;
    EXPECT_THAT(resumed.out, HasSubstr("settings changed: optim.lr (0.9, now 0.09), "
                                       "optim.max_grad_norm (0.0, now 1.0)"));
    EXPECT_THAT(resumed.out, HasSubstr("2 ranks"));
  }
}

// The newest checkpoint is of the step before the failure: its weights lead to the same loss,
// whatever the learning rate is.
TEST_F(TrainPeople, ADivergenceRightAfterACheckpointAdvisesAnotherStart) {
  const Line words{"data.task=regression", "model.hidden_sizes=[]", "optim.kind=sgd",
                   "optim.momentum=0",     "train.steps=1000",      "optim.max_grad_norm=0",
                   "checkpoint.every=1",   "checkpoint.keep=2",     "checkpoint.keep_best=false",
                   "eval.every=1000",      "optim.lr=1000"};
  const Ran diverged = train("job", words);
  EXPECT_EQ(diverged.code, 1) << diverged.out << diverged.error;
  const std::string step = std::to_string(newest("job").step() - 1);
  EXPECT_THAT(diverged.error, HasSubstr("Continue from that of step " + step + " with a lower "));
  const std::string earlier =
      after(diverged.error, "leads to the same failure; continue from step " + step +
                                " with a lower learning rate and clipped gradients: ");
  const Ran resumed = run_in_shell(earlier + " train.steps=12");
  EXPECT_EQ(resumed.code, 0) << earlier << resumed.out << resumed.error;
  EXPECT_THAT(resumed.out, HasSubstr("continuing from step " + step));

  Line one = words;
  one.emplace_back("checkpoint.keep=1");
  const Ran alone = train("alone", one);
  const std::string fresh =
      after(alone.error,
            "leads to the same failure; begin a new job with a lower learning rate "
            "and clipped gradients: ");
  EXPECT_THAT(fresh, EndsWith(" --output " + at("alone-2").string() + " --resume=auto"));
  const Ran begun = run_in_shell(fresh + " train.steps=20");
  EXPECT_EQ(begun.code, 0) << fresh << begun.out << begun.error;
}

// A command that must fail in the same way is not advised.
TEST_F(TrainPeople, WithoutAWholeCheckpointNothingIsContinued) {
  ASSERT_EQ(train("job", {"train.steps=2", "checkpoint.keep=1"}).code, 0);
  const fs::path part = newest("job").path() / "part-00000.safetensors";
  std::string bytes = read_file(part);
  bytes.back() ^= 4;
  write_file_atomically(part, bytes);
  for (const Line& words : {Line{"--resume"}, Line{"--resume=auto"}, {"--resume", "--elastic"}}) {
    Line all = words;
    all.insert(all.end(), {"train.steps=4", "checkpoint.keep=1"});
    const Ran refused = train("job", all);
    EXPECT_EQ(refused.code, 2) << refused.error;
    EXPECT_THAT(refused.error, HasSubstr("To begin a new job, use another --output"));
    EXPECT_THAT(refused.error, Not(HasSubstr("continue with")));
  }
}

TEST_F(TrainPeople, AFailureBeforeTheFirstCheckpointAdvisesToBeginAgain) {
  for (const bool is_elastic : {false, true}) {
    const std::string job = is_elastic ? "elastic" : "plain";
    Line all{"data.task=regression",  "model.hidden_sizes=[]", "optim.kind=sgd",
             "optim.max_grad_norm=0", "optim.lr=1000",         "checkpoint.every=1000",
             "eval.every=1000",       "train.steps=30"};
    if (is_elastic) all.emplace_back("--elastic");
    const Ran diverged = train(job, all);
    EXPECT_EQ(diverged.code, 1) << diverged.out << diverged.error;
    const std::string said = diverged.out + diverged.error;
    EXPECT_THAT(said, HasSubstr("There is no checkpoint. Begin again with "));
    EXPECT_THAT(said, Not(HasSubstr("The last checkpoint")));
    EXPECT_THAT(
        train(job, all).error,
        HasSubstr(job + " holds a job without a checkpoint: --resume=auto begins it again"));
    const std::string gentler =
        after(diverged.error,
              "trireme: there is no checkpoint; begin again with a lower learning rate and clipped "
              "gradients: ");
    EXPECT_THAT(gentler, Not(HasSubstr("--allow-changes"))) << diverged.error;
    EXPECT_THAT(diverged.error, HasSubstr("trireme: or leave out the steps that are not finite"));
    const Ran again = run_in_shell("cd / && " + gentler + " optim.lr=1e-3");
    EXPECT_EQ(again.code, 0) << gentler << again.out << again.error;
    EXPECT_EQ(newest(job).step(), 30);
  }
}

TEST_F(TrainPeople, TheCommandThatContinuesAJobWorksFromEveryFolder) {
  fs::create_directories(at("my home"));
  std::string command;
  {
    testing::CommandProcess job(
        {.command = {"sh", "-c",
                     "cp " + recipe() + " '" + at("my home").string() + "' && cd '" +
                         at("my home").string() + "' && exec " + build_folder() +
                         "/trireme train tiny.toml train.steps=100000000"},
         .environment = {{"OMP_NUM_THREADS", "1"}}});
    job.wait_for_output("step 3/", Deadline::after(std::chrono::minutes(1)));
    job.signal(SIGTERM);
    job.wait_exit(Deadline::after(std::chrono::minutes(1)));
    command = after(job.error(), "trireme: continue with: ");
  }
  EXPECT_THAT(command, EndsWith(" --output runs/tiny --resume"));
  const std::int64_t step = newest("my home/runs/tiny").step();
  const Ran resumed =
      run_in_shell("cd / && " + command + " train.steps=" + std::to_string(step + 3));
  EXPECT_EQ(resumed.code, 0) << command << resumed.out << resumed.error;
  EXPECT_EQ(newest("my home/runs/tiny").step(), step + 3);
}

TEST_F(TrainPeople, TheBestCheckpointIsNamedAtTheEnd) {
  const Ran trained = train("a job", {"train.steps=21"});
  EXPECT_EQ(trained.code, 0) << trained.error;
  const std::int64_t best = Progress::from_json(newest("a job").meta()).best_step;
  EXPECT_THAT(trained.out, HasSubstr("best by loss: step " + std::to_string(best) + " ("));
  // As the program was called: it need not be among those that a shell finds.
  const std::string command = after(trained.out, "--checkpoint best: ");
  EXPECT_THAT(command, StartsWith(build_folder() + "/trireme eval "));
  const Ran scores = run_in_shell(command);
  EXPECT_EQ(scores.code, 0) << command << scores.error;
  const Ran blind = train("blind", {"train.steps=3", "data.test_count=0"});
  EXPECT_EQ(blind.code, 0) << blind.error;
  EXPECT_THAT(blind.out, Not(HasSubstr("best by")));
  EXPECT_THAT(run({"eval", at("blind").string()}).error, HasSubstr("set data.test=PATH"));
}

TEST_F(TrainPeople, ARefusedRecipeLeavesNothingBehind) {
  const Ran missing = run({"train", text_recipe(), "data.file=" + at("none.txt").string(),
                           "--output", at("missing").string()});
  EXPECT_EQ(missing.code, 2) << missing.error;
  EXPECT_THAT(missing.error, HasSubstr("none.txt"));
  EXPECT_FALSE(fs::exists(at("missing")));
  const Ran section = train("section", {"optimizer.kind=adamw"});
  EXPECT_EQ(section.code, 2);
  EXPECT_THAT(section.error, HasSubstr("did you mean [optim]?"));
}

TEST_F(TrainPeople, NamesOfClassesCanBeRead) {
  const std::string text = (folder_.path() / "text.txt").string();
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "a b\n";
  write_file_atomically(text, lines);
  const Ran trained =
      run({"train", text_recipe(), "data.file=" + text, "--output", at("names").string()});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.error;
  const Ran table = run({"eval", at("names").string()});
  EXPECT_THAT(table.out, HasSubstr("\n\"\\n\" "));
  EXPECT_THAT(table.out, HasSubstr("\n\" \" "));
  const Ran unknown = run({"generate", at("names").string(), "--prompt", "a é"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.error, HasSubstr("'é'"));
}

// Replacements would meet the same damaged file.
TEST_F(TrainPeople, AFileThatNoWorkerCanReadEndsEveryJobWithTheSameReport) {
  for (const char* name : {"all/cat/0.png", "all/dog/0.png"}) {
    std::filesystem::create_directories(at(name).parent_path());
    write_file_atomically(at(name), std::string_view("no picture"));
  }
  const std::string recipe = at("pictures.toml").string();
  write_file_atomically(
      recipe,
      "[model]\nkind = \"mlp\"\nhidden_sizes = [4]\n[data]\nkind = \"images\"\ntrain = \"" +
          at("all").string() +
          "\"\nsize = [4, 4]\ngrayscale = true\n[train]\nglobal_batch_size = 2\nsteps = 9\n");
  for (const bool is_elastic : {true, false}) {
    Line words{"train", recipe,     "-n",
               "2",     "--output", at(is_elastic ? "elastic" : "fixed").string()};
    if (is_elastic) words.emplace_back("--elastic");
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 1) << ran.error;
    EXPECT_THAT(ran.error, HasSubstr("0.png"));
    EXPECT_EQ(ran.error.find("failed for a reason that a replacement would meet again") !=
                  std::string::npos,
              is_elastic)
        << ran.error;
    EXPECT_THAT(ran.error, Not(HasSubstr("exit code")));
    EXPECT_EQ(count_of(".png: ", ran.out), 0) << "told twice: " << ran.out;
    EXPECT_EQ(count_of(".png: ", ran.error), 1 + count_of(" was lost: ", ran.error)) << ran.error;
    EXPECT_THAT(ran.error, Not(HasSubstr("restarting the job")));
    EXPECT_THAT(ran.error, Not(HasSubstr("crash loop")));
  }
  // Under any other launcher the worker's own exit status tells the kind of its failure.
  const Ran alone =
      run_in_shell("TRIREME_SIZE=1 " + build_folder() + "/trireme-worker train --recipe " + recipe +
                   " --output " + at("alone").string());
  EXPECT_EQ(alone.code, 78) << alone.error;
}

}  // namespace
}  // namespace trireme::train
