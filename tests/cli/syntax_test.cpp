// Goal:   the help of a command names every option and example, and fits the width.
// Method: syntax made up by the test; the width of every line.

#include "trireme/cli/syntax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace trireme::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Syntax kSyntax{
    .name = "bench comm",
    .summary = "Measure collectives",
    .examples = {"trireme bench comm", "trireme bench comm --ranks 2"},
    .options = {{.names = "-n,--ranks", .value = "N", .help = "number of ranks"},
                {.names = "--resume",
                 .value = "auto",
                 .help = "continue from the newest checkpoint that is whole, or begin if none is",
                 .is_value_optional = true},
                {.names = "--backend",
                 .value = "shm|thread|tcp|mpi|auto",
                 .help = "transport of the data"},
                {.names = "-v", .help = "print more"}},
    .arguments = {{.value = "DIR", .help = "a folder"}},
    .words = CommandInput{.value = "key=value", .help = "settings"},
    .program = CommandInput{.value = "PROGRAM", .help = "what to run"}};

TEST(Syntax, FieldsHaveSpellings) {
  EXPECT_THAT(kSyntax.options[0].spellings(), ElementsAre("-n", "--ranks"));
  EXPECT_EQ(kSyntax.options[0].shown(), "-n,--ranks N");
  EXPECT_EQ(kSyntax.options[1].shown(), "--resume[=auto]");
  EXPECT_EQ(kSyntax.options[3].shown(), "-v");
  EXPECT_EQ(kSyntax.arguments[0].shown(), "DIR");
  EXPECT_THAT(kSyntax.arguments[0].spellings(), ElementsAre());
  EXPECT_EQ(kSyntax.option("--ranks"), kSyntax.options.data());
  EXPECT_EQ(kSyntax.option("--rank"), nullptr);
}

TEST(Syntax, UsageNamesEveryPart) {
  EXPECT_EQ(usage(kSyntax),
            "trireme bench comm [OPTIONS] DIR [key=value ...] [--] PROGRAM [ARGUMENTS]");
  EXPECT_EQ(usage({.name = "new",
                   .summary = "",
                   .examples = {},
                   .words = CommandInput{.value = "DIR", .is_single = true}}),
            "trireme new [DIR]");
  EXPECT_EQ(usage({.name = "version", .summary = "", .examples = {}}), "trireme version");
}

TEST(Syntax, TheProgramBeginsAfterTheOptionsAndTheirValues) {
  EXPECT_EQ(program_begin(kSyntax, {"-n", "4", "-v", "--resume", "python"}), 4u);
  EXPECT_EQ(program_begin(kSyntax, {"-v", "--", "x"}), 1u);
  EXPECT_EQ(program_begin(kSyntax, {"-n"}), 1u);
}

TEST(Syntax, HelpFitsTheWidthAndLosesNoWord) {
  for (const int width : {1, 50, 72, 80, 100}) {
    const std::string text = help_text(kSyntax, width);
    std::istringstream lines(text.substr(text.find("  DIR"), text.find("\nExamples") - 1));
    std::string words;
    std::istringstream all(text);
    for (std::string word; all >> word;) words += word + " ";
    EXPECT_THAT(words, HasSubstr("continue from the newest checkpoint that is whole, or begin"));
    for (std::string line; std::getline(lines, line) && line != "Examples:";) {
      EXPECT_LE(line.size(), static_cast<std::size_t>(std::max(width, 50))) << line;
    }
  }
  EXPECT_THAT(help_text(kSyntax, 80), HasSubstr("\nExamples:\n  trireme bench comm\n"));
  EXPECT_THAT(
      help_text(kSyntax, 80),
      HasSubstr("  --backend shm|thread|tcp|mpi|auto\n                            transport"));
  EXPECT_EQ(help_text(kSyntax, 1000), help_text(kSyntax, kHelpWidthMax));
}

TEST(Syntax, ALongWordIsNotDivided) {
  const std::string word(60, 'x');
  EXPECT_THAT(two_columns("-a", "short " + word + " end", 10, 30),
              HasSubstr("short\n          " + word + "\n          end\n"));
}

}  // namespace
}  // namespace trireme::cli
