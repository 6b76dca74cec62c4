// Goal:   what a person sees who runs the programs by hand: a view that is redrawn in place on a
//         terminal, a word where a resumed job does not do what was perhaps expected, names that
//         can be read, and nothing left of a recipe that was refused.
// Method: the real programs on a tiny recipe; script(1) lends them a terminal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/process_fixture.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class TrainPeople : public TrainProcess {
 protected:
  // In a terminal of its own.
  static Ran run_in_terminal(const std::string& line) {
    testing::CommandProcess process({.command = {"script", "-qec", line, "/dev/null"},
                                     .environment = {{"OMP_NUM_THREADS", "1"}, {"TERM", "xterm"}}});
    const int code = process.wait_exit(Deadline::after(std::chrono::minutes(1)));
    return {code, process.out(), process.error()};
  }

  std::string text_recipe() const {
    const std::string path = (folder_.path() / "gpt.toml").string();
    write_file_atomically(path,
                          "[model]\nkind = \"gpt\"\nwidth = 8\nlayers = 1\nheads = 2\n"
                          "[data]\nkind = \"text\"\ncontext = 8\n[train]\nbatch = 8\nsteps = 2\n");
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
}

TEST_F(TrainPeople, AResumedJobSaysWhatAChangedNumberOfStepsMeans) {
  ASSERT_EQ(train("job", {"train.steps=20", "schedule.kind=cosine"}).code, 0);
  const Ran done = train("job", {"--resume", "train.steps=10", "schedule.kind=cosine"});
  EXPECT_EQ(done.code, 0) << done.error;
  EXPECT_THAT(done.out + done.error, HasSubstr("step 20 is made"));
  EXPECT_THAT(done.out + done.error, HasSubstr("asks for 10"));
  const Ran longer = train("job", {"--resume", "train.steps=30", "schedule.kind=cosine"});
  EXPECT_EQ(longer.code, 0) << longer.error;
  EXPECT_THAT(longer.out + longer.error, HasSubstr("the job had 20 steps and has 30 now"));
  ASSERT_EQ(train("even", {"train.steps=20"}).code, 0);
  EXPECT_THAT(train("even", {"--resume", "train.steps=25"}).out, Not(HasSubstr("the job had")));
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

}  // namespace
}  // namespace trireme::train
