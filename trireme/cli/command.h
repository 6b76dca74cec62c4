// Command is one subcommand of `trireme`: its syntax, and what its options and its action do. It is
// implemented with CLI11, which only command.cpp includes.
//
//   Command command("stop", "End a running job", "trireme stop brisk-heron");
//   command.argument("JOB", "the job's name", set_text(name));
//   command.flag("--kill", "do not ask, kill", is_kill);
//   command.action([=] { …; return 0; });
//
// Errors:        run() collects all mistakes in the command line, reports each on its own line and
//                returns 2 without calling the action. An exception of the action is reported too
//                and determines the exit status: see trireme/base/exit_status.h.
// Thread safety: one thread.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trireme/cli/syntax.h"

namespace trireme::cli {

// Receives a value's text; returns what is wrong with it, or an empty string.
using Setter = std::function<std::string(const std::string&)>;
using WordsSetter = std::function<std::string(const std::vector<std::string>&)>;

Setter set_text(std::string& target);

class Command {
 public:
  Command(std::string name, std::string summary, std::string example);

  // `names` as in "-n,--ranks"; `value` is the placeholder in the help text: see syntax.h.
  void option(std::string names, std::string value, std::string help, Setter set);
  void flag(std::string names, std::string help, bool& target);
  // A flag with an optional value, "--resume" and "--resume=auto"; without a value, `set` receives
  // "".
  void flag(std::string names, std::string value, std::string help, Setter set);
  // A required word.
  void argument(std::string value, std::string help, Setter set);
  // A word that may be left out; a command has either this or words().
  void optional(std::string value, std::string help, Setter set);
  // Any number of words that are not options, after the arguments.
  void words(std::string value, std::string help, WordsSetter set);
  // A program and all words after it, which are not parsed, with or without a preceding `--`.
  void program(std::string value, std::string help, WordsSetter set);
  // One more example in the help text.
  void example(std::string line) { syntax_.examples.push_back(std::move(line)); }
  // Receives the words that the command was given, before its action is called.
  void on_words(std::function<void(const std::vector<std::string>&)> take) {
    take_words_ = std::move(take);
  }
  // Passes all words, --help too, on to `start`, which becomes another program.
  void forward(std::function<int(const std::vector<std::string>&)> start);
  // Called if the command line is valid. Returns the exit code.
  void action(std::function<int()> act) { act_ = std::move(act); }

  // For internal use: the command works, but is not listed.
  void hide() { syntax_.is_hidden = true; }
  // The heading below which the overview of all commands lists this one.
  void set_group(CommandGroup group) { syntax_.group = std::move(group); }

  const std::string& name() const noexcept { return syntax_.name; }
  const Syntax& syntax() const noexcept { return syntax_; }

  // Runs the command with the words after the subcommand's name.
  int run(const std::vector<std::string>& words);

 private:
  using Given = std::vector<std::string>;  // one entry per occurrence of the option

  std::vector<std::string> mistakes_in(std::vector<std::string> words);
  std::vector<std::string> take_program(std::vector<std::string>& words) const;
  std::vector<Given> parse(std::vector<std::string> words, std::vector<std::string>& mistakes);
  std::string about_unknown(const std::string& word) const;
  void add_option(CommandInput field, Setter set, bool* target);

  Syntax syntax_;
  std::vector<Setter> option_setters_;  // one for each option; null for a flag without a value
  std::vector<bool*> flag_targets_;     // one for each option; null for those with a value
  std::vector<Setter> argument_setters_;
  WordsSetter set_words_;
  WordsSetter set_program_;
  std::function<void(const std::vector<std::string>&)> take_words_;
  std::function<int(const std::vector<std::string>&)> start_;
  std::function<int()> act_;
};

// Prints the mistakes to standard error, with the program whose --help says more; returns 2.
int report(const std::string& program, const std::vector<std::string>& mistakes);

}  // namespace trireme::cli
