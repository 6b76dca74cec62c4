// Goal:   docs/commands.md is what the commands say, those of trireme-bench and trireme-soak too.
// Method: renders the page anew and compares. With TRIREME_REGENERATE=1 in the environment it
//         writes the page instead; commit what it wrote.

#include "trireme/cli/commands_page.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "bench/commands.h"
#include "tests/folders.h"
#include "tests/soak/command.h"
#include "trireme/base/file/file.h"
#include "trireme/cli/commands.h"

namespace trireme {
namespace {

// In the places of the commands that start other programs stand those of these programs.
std::vector<cli::Syntax> all_syntax() {
  std::vector<cli::Syntax> all;
  const auto add = [&](const cli::Command& command, const cli::CommandGroup& group) {
    all.push_back(command.syntax());
    all.back().group = group;
  };
  for (const cli::Command& command : cli::all_commands()) {
    const cli::CommandGroup& group = command.syntax().group;
    if (command.name() == "bench") {
      for (const cli::Command& one : bench::all_commands()) add(one, group);
    } else if (command.name() == "soak") {
      add(soak::soak_command(), group);
    } else {
      EXPECT_FALSE(command.syntax().is_forwarded) << command.name() << " is missing on the page";
      add(command, group);
    }
  }
  return all;
}

TEST(CommandsPage, IsWhatTheCommandsSay) {
  const std::filesystem::path page = std::filesystem::path(source_folder()) / "docs/commands.md";
  const std::string rendered = cli::commands_page(all_syntax());
  if (std::getenv("TRIREME_REGENERATE") != nullptr) write_file_atomically(page, rendered);
  EXPECT_EQ(read_file(page), rendered)
      << "docs/commands.md is out of date; run the tests once with TRIREME_REGENERATE=1";
}

TEST(CommandsPage, LeavesOutWhatIsHiddenAndEscapesCells) {
  const std::vector<cli::Syntax> commands{
      {.name = "sum",
       .summary = "Add numbers",
       .examples = {"trireme sum 1 2"},
       .group = {.title = "Numbers"},
       .options = {{.names = "--as", .value = "text|json", .help = "a|b"}}},
      {.name = "inner", .summary = "", .examples = {}, .is_hidden = true}};
  const std::string page = cli::commands_page(commands);
  EXPECT_NE(page.find("## Numbers\n\n### trireme sum\n\nAdd numbers.\n"), page.npos);
  EXPECT_NE(page.find("| `--as text\\|json` | a\\|b |"), page.npos);
  EXPECT_EQ(page.find("inner"), page.npos);
}

}  // namespace
}  // namespace trireme
