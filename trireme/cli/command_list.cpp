#include "trireme/cli/command_list.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "trireme/base/exit_status.h"
#include "trireme/base/terminal.h"
#include "trireme/base/text/nearest.h"
#include "trireme/cli/completion/answer.h"

namespace trireme::cli {
namespace {

constexpr int kColumnMin = 14;

bool asks_for_help(const std::string& word) {
  return word == "--help" || word == "-h";
}

std::vector<const Command*> listed(const std::vector<Command>& commands,
                                   const std::string& prefix) {
  std::vector<const Command*> found;
  for (const Command& command : commands) {
    if (!command.syntax().is_hidden && command.name().starts_with(prefix)) {
      found.push_back(&command);
    }
  }
  return found;
}

int print_overview(const std::vector<Command>& commands, const std::string& prefix,
                   std::FILE* stream) {
  const int width = terminal_at(fileno(stream)).width;
  std::fputs(overview(commands, prefix, width).c_str(), stream);
  return 0;
}

// The commands of two words that begin with this word.
std::vector<std::string> second_words(const std::vector<Command>& commands,
                                      const std::string& first) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.name().starts_with(first + " ")) names.push_back(command.name());
  }
  return names;
}

int no_command(const std::vector<Command>& commands, const std::string& name,
               const std::vector<std::string>& seconds) {
  std::string mistake = "no command '" + name + "'";
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    mistake += (i == 0 ? "; there is " : ", ") + seconds[i];
  }
  if (!seconds.empty()) return report("trireme", {mistake});
  std::vector<std::string> names;
  for (const Command* command : listed(commands, "")) names.push_back(command->name());
  if (const auto near = nearest(name, names)) mistake += "; did you mean " + *near + "?";
  return report("trireme", {mistake});
}

}  // namespace

std::string overview(const std::vector<Command>& commands, const std::string& prefix, int width) {
  const std::vector<const Command*> shown = listed(commands, prefix);
  int column = kColumnMin;
  for (const Command* command : shown) {
    column = std::max(column, static_cast<int>(command->name().size()) + 4);
  }
  std::string text = "Trireme trains neural networks on many processes, cores and hosts.\n\n";
  text += "Usage: trireme " + prefix + "COMMAND [OPTIONS]\n";
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Syntax& syntax = shown[i]->syntax();
    const CommandGroup& group = syntax.group;
    if (i == 0 || shown[i - 1]->syntax().group.title != group.title) {
      text += "\n" + (group.title.empty() ? "" : group.title + ":  " + group.example + "\n");
    }
    text += two_columns(syntax.name, syntax.summary, column, width);
  }
  return text + "\n`trireme " + prefix + "COMMAND --help` says more about one of them.\n";
}

int run_commands(std::vector<Command>& commands, const std::vector<std::string>& words) {
  std::vector<std::string> rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  std::string name = words.empty() ? "--help" : words.front();
  if (name == completion::kRequest) return completion::answer(commands, rest);
  if (name == "--version") name = "version";
  if (name == "help" && !rest.empty()) {
    name = rest.front();
    rest.erase(rest.begin());
    rest.emplace_back("--help");
  }
  if (words.empty()) return print_overview(commands, "", stderr), kExitUsage;
  if (asks_for_help(name) || name == "help") return print_overview(commands, "", stdout);
  if (!rest.empty() && rest.front() == completion::kRequest) {
    rest.front() = name;
    return completion::answer(commands, rest);
  }
  const std::vector<std::string> seconds = second_words(commands, name);
  if (!seconds.empty() && !rest.empty() && asks_for_help(rest.front())) {
    return print_overview(commands, name + " ", stdout);
  }
  if (!seconds.empty() && !rest.empty() && !rest.front().starts_with('-')) {
    name += " " + rest.front();
    rest.erase(rest.begin());
  }
  for (Command& command : commands) {
    if (command.name() == name) return command.run(rest);
  }
  return no_command(commands, name, seconds);
}

}  // namespace trireme::cli
