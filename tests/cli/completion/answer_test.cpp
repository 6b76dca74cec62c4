// Goal:   the answer to a shell has one line for each candidate, and nothing that goes wrong is
//         printed into the user's command line. There is a script for each shell.
// Method: the real commands; a command that another program implements; captures the output.

#include "trireme/cli/completion/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/completion/scripts.h"

namespace trireme::cli::completion {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string answer_to(std::vector<Command>& commands, const std::vector<std::string>& words) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(answer(commands, words), 0);
  return ::testing::internal::GetCapturedStdout();
}

TEST(CompletionAnswer, HasTheKindOfFilesAndTheCandidates) {
  std::vector<Command> commands = all_commands();
  EXPECT_EQ(answer_to(commands, {"train", ""}), "recipes\n");
  EXPECT_EQ(answer_to(commands, {"plot", ""}), "folders\n");
  EXPECT_EQ(answer_to(commands, {"checkpoint", "ls", ""}), "files\n");
  EXPECT_EQ(answer_to(commands, {"run", ""}), "programs\n");
  EXPECT_EQ(answer_to(commands, {"run", "--bind", "n"}), "none\nnone\t\n");
  EXPECT_THAT(answer_to(commands, {"tra"}), StartsWith("none\ntrain\tTrain"));
}

TEST(CompletionAnswer, TheProgramOfACommandAnswersItself) {
  std::vector<Command> commands;
  commands.emplace_back("bench", "", "");
  std::vector<std::string> request;
  commands.back().forward([&](const std::vector<std::string>& words) {
    request = words;
    return 0;
  });
  EXPECT_EQ(answer_to(commands, {"bench", "comm", "--ra"}), "");
  EXPECT_THAT(request, ::testing::ElementsAre(kRequest, "comm", "--ra"));
}

TEST(CompletionAnswer, WhatCannotBeReadIsNotOffered) {
  std::vector<Command> commands = all_commands();
  EXPECT_EQ(answer_to(commands, {"train", "--worker", "/no/such/worker", "x.toml", "train."}),
            "none\n");
}

TEST(CompletionScripts, AskTheProgram) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(std::string(script_for(shell)), HasSubstr(kRequest)) << shell;
  }
  EXPECT_EQ(script_for("tcsh"), "");
}

}  // namespace
}  // namespace trireme::cli::completion
