// Goal:   the right command runs, an unknown one is reported with the nearest name, and the
//         overview lists all commands by group.
// Method: commands defined by the test; captures their output.

#include "trireme/cli/command_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

struct Outcome {
  int code = 0;
  std::string out = {}, error = {};
};

Outcome run(std::vector<Command>& commands, const Words& words) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome result{.code = run_commands(commands, words)};
  result.out = ::testing::internal::GetCapturedStdout();
  result.error = ::testing::internal::GetCapturedStderr();
  return result;
}

Command returning(const std::string& name, int code) {
  Command command(name, "It is " + name, "trireme " + name);
  command.action([code] { return code; });
  return command;
}

TEST(CommandList, CommandsAreFoundOrSuggested) {
  std::vector<Command> commands{returning("run", 7), returning("version", 3)};
  EXPECT_EQ(run(commands, {"run"}).code, 7);
  EXPECT_EQ(run(commands, {"--version"}).code, 3);
  EXPECT_EQ(run(commands, {"rnu"}).code, 2);
  EXPECT_THAT(run(commands, {"rnu"}).error, HasSubstr("no command 'rnu'; did you mean run?"));
  EXPECT_THAT(run(commands, {"elephant"}).error, Not(HasSubstr("did you mean")));
  for (const Words& words : {Words{"--help"}, {"-h"}, {"help"}}) {
    EXPECT_EQ(run(commands, words).code, 0);
    EXPECT_THAT(run(commands, words).out, HasSubstr("It is run"));
  }
  EXPECT_EQ(run(commands, {"help", "run"}).code, 0);
  EXPECT_THAT(run(commands, {"help", "run"}).out, HasSubstr("Usage: trireme run"));
  EXPECT_EQ(run(commands, {}).code, 2);
  EXPECT_THAT(run(commands, {}).error, HasSubstr("It is run"));
}

TEST(CommandList, NamesMayHaveTwoWords) {
  std::vector<Command> commands{returning("show one", 11), returning("show two", 12)};
  EXPECT_EQ(run(commands, {"show", "one"}).code, 11);
  EXPECT_EQ(run(commands, {"show", "two"}).code, 12);
  EXPECT_THAT(run(commands, {"help", "show", "two"}).out, HasSubstr("trireme show two"));
  for (const Words& words : {Words{"show"}, {"show", "three"}}) {
    EXPECT_THAT(run(commands, words).error, HasSubstr("there is show one, show two"));
  }
  commands.push_back(returning("other", 1));
  for (const Words& words : {Words{"show", "--help"}, {"help", "show"}}) {
    EXPECT_THAT(
        run(commands, words).out,
        AllOf(HasSubstr("\n  show one"), HasSubstr("\n  show two"), Not(HasSubstr("other"))));
  }
}

TEST(CommandList, TheOverviewHasGroupsWithExamples) {
  std::vector<Command> commands{returning("train", 0), returning("eval", 0), returning("stop", 0),
                                returning("agent", 0)};
  commands[0].set_group({.title = "Train", .example = "trireme train x.toml"});
  commands[1].set_group({.title = "Train", .example = "trireme train x.toml"});
  commands[2].set_group({.title = "Jobs", .example = "trireme stop demo"});
  commands[3].hide();
  EXPECT_THAT(overview(commands, "", 80),
              AllOf(HasSubstr("\nTrain:  trireme train x.toml\n"
                              "  train       It is train\n  eval        It is eval\n"
                              "\nJobs:  trireme stop demo\n  stop        It is stop\n"),
                    Not(HasSubstr("agent"))));
}

TEST(CommandList, AnswersAShell) {
  std::vector<Command> commands{returning("train", 0), returning("tokenizer", 0),
                                returning("show one", 0)};
  EXPECT_EQ(run(commands, {"--complete", "tr"}).out, "none\ntrain\tIt is train\n");
  EXPECT_EQ(run(commands, {"show", "--complete", "o"}).out, "none\none\tIt is show one\n");
  EXPECT_EQ(run(commands, {"train", "--complete", "--h"}).out,
            "none\n--help\thelp for this command\n");
}

}  // namespace
}  // namespace trireme::cli
