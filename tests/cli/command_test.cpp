// Goal:   a command line is parsed in the forms that people write, and all of its mistakes are
//         reported together.
// Method: commands defined by the test; captures their output.

#include "trireme/cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "trireme/base/error.h"

namespace trireme::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class CommandLine : public ::testing::Test {
 protected:
  CommandLine() : command_("run", "Run it", "trireme run x") {
    command_.option("-n,--ranks", "N", "how many", [this](const std::string& text) {
      ranks_ = text;
      return text == "bad" ? std::string("-n bad: no") : std::string();
    });
    command_.option("--name", "JOB", "its name", set_text(name_));
    command_.flag("-q,--quiet", "say less", is_quiet_);
    command_.action([this] {
      ++calls_;
      return 7;
    });
  }
  void take_program() {
    command_.program("PROGRAM", "what to run", [this](const Words& words) {
      program_ = words;
      return words.empty() ? std::string("PROGRAM is missing") : std::string();
    });
  }
  int run(const Words& words) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = command_.run(words);
    out_ = ::testing::internal::GetCapturedStdout();
    error_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  Command command_;
  std::string ranks_, name_, out_, error_;
  bool is_quiet_ = false;
  Words program_;
  int calls_ = 0;
};

TEST_F(CommandLine, ParsesOptionsInEverySpelling) {
  for (const Words& words : {Words{"-n", "4"}, Words{"-n4"}, Words{"--ranks", "4"},
                             Words{"--ranks=4"}, Words{"-n", "3", "-n", "4"}}) {
    ranks_.clear();
    EXPECT_EQ(run(words), 7) << words.front() << error_;
    EXPECT_EQ(ranks_, "4");
  }
  EXPECT_FALSE(is_quiet_);
  EXPECT_EQ(run({"-q"}), 7);
  EXPECT_TRUE(is_quiet_);
}

TEST_F(CommandLine, ReportsEveryMistakeAtOnce) {
  EXPECT_EQ(run({"-n", "bad", "--nmae=x", "stray", "--verbosity"}), 2);
  EXPECT_THAT(error_, HasSubstr("-n bad: no"));
  EXPECT_THAT(error_, HasSubstr("unknown option --nmae; did you mean --name?"));
  EXPECT_THAT(error_, HasSubstr("unexpected argument stray"));
  EXPECT_THAT(error_, HasSubstr("unknown option --verbosity\n"));
  EXPECT_THAT(error_, HasSubstr("trireme run --help"));
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(run({"--name"}), 2) << "a value is missing";
}

TEST_F(CommandLine, OptionsAfterTheProgramBelongToIt) {
  take_program();
  EXPECT_EQ(run({"-n", "4", "python", "x.py", "-n", "9", "--name", "--", "--help"}), 7) << error_;
  EXPECT_THAT(program_, ElementsAre("python", "x.py", "-n", "9", "--name", "--", "--help"));
  EXPECT_EQ(ranks_, "4");
  EXPECT_EQ(run({"-n4", "-q", "--name=j", "--", "-odd", "-q"}), 7) << error_;
  EXPECT_THAT(program_, ElementsAre("-odd", "-q"));
  EXPECT_EQ(name_, "j");
  EXPECT_EQ(run({"-n", "4"}), 2);
  EXPECT_EQ(run({"-n", "4", "--"}), 2);
  EXPECT_THAT(error_, HasSubstr("PROGRAM is missing"));
}

TEST_F(CommandLine, MissingArgumentsAreReported) {
  std::string job;
  command_.argument("JOB", "which", set_text(job));
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(error_, HasSubstr("JOB is missing"));
  EXPECT_EQ(run({"demo", "-q"}), 7);
  EXPECT_EQ(job, "demo");
  EXPECT_EQ(run({"demo", "more"}), 2);
}

TEST_F(CommandLine, AnOptionalArgumentMayBeLeftOut) {
  std::string folder = "here";
  command_.optional("DIR", "where", set_text(folder));
  EXPECT_EQ(run({}), 7);
  EXPECT_EQ(folder, "here");
  EXPECT_EQ(run({"-q", "there"}), 7);
  EXPECT_EQ(folder, "there");
  EXPECT_EQ(run({"a", "b"}), 2);
  EXPECT_THAT(error_, HasSubstr("unexpected argument b"));
}

TEST_F(CommandLine, HelpShowsEveryOption) {
  take_program();
  EXPECT_EQ(run({"-n", "4", "--help"}), 0);
  for (const char* text :
       {"Run it", "-n,--ranks N", "how many", "[--] PROGRAM", "Example:\n  trireme run x"}) {
    EXPECT_THAT(out_, HasSubstr(text));
  }
  EXPECT_EQ(calls_, 0);
}

TEST_F(CommandLine, ErrorsBecomeExitCodes) {
  command_.action([]() -> int { throw Error(ErrorCode::InvalidInput, "wrong file"); });
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(error_, "trireme: wrong file\n");
  command_.action([]() -> int { throw Error(ErrorCode::NotFound, "no job"); });
  EXPECT_EQ(run({}), 2);
  command_.action([]() -> int { throw Error(ErrorCode::PeerLost, "gone"); });
  EXPECT_EQ(run({}), 1);
}

TEST_F(CommandLine, EveryExceptionBecomesAnExitCode) {
  command_.action([]() -> int {
    std::filesystem::create_directories("/dev/null/x");
    return 0;
  });
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(error_, HasSubstr("trireme: /dev/null"));
  command_.action([]() -> int { throw std::runtime_error("why"); });
  EXPECT_EQ(run({}), 1);
  EXPECT_EQ(error_, "trireme: why\n");
}

TEST_F(CommandLine, AnotherProgramReceivesEveryWord) {
  Words received;
  command_.forward([&](const Words& words) {
    received = words;
    return 5;
  });
  EXPECT_EQ(run({"--unknown", "-n", "--help"}), 5);
  EXPECT_THAT(received, ElementsAre("--unknown", "-n", "--help"));
  command_.forward([](const Words&) -> int { throw Error(ErrorCode::NotFound, "no program"); });
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(error_, "trireme: no program\n");
}

}  // namespace
}  // namespace trireme::cli
