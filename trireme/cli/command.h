// Command is one subcommand of `trireme`: its options, its help and its action. It is implemented
// with CLI11, which only command.cpp includes.
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
#include <string_view>
#include <vector>

namespace trireme::cli {

// Receives a value's text; returns what is wrong with it, or an empty string.
using Setter = std::function<std::string(const std::string&)>;

Setter set_text(std::string& target);

class Command {
 public:
  Command(std::string name, std::string summary, std::string example);

  // `names` as in "-n,--ranks"; `value` is the placeholder in the help text.
  void option(std::string names, std::string value, std::string help, Setter set);
  void flag(std::string names, std::string help, bool& target);
  // A flag with an optional value, "--resume" and "--resume=auto"; without a value, `set` receives
  // "".
  void flag(std::string names, std::string value, std::string help, Setter set);
  // A required word.
  void argument(std::string value, std::string help, Setter set);
  // Any number of words that are not options, after the arguments.
  void words(std::string value, std::string help,
             std::function<std::string(const std::vector<std::string>&)> set);
  // A program and all words after it, which are not parsed, with or without a preceding `--`.
  void program(std::string help, std::function<std::string(const std::vector<std::string>&)> set);
  // Receives the words that the command was given, before its action is called.
  void on_words(std::function<void(const std::vector<std::string>&)> take) {
    take_words_ = std::move(take);
  }
  // Passes all words, --help too, on to `start`, which becomes another program.
  void forward(std::function<int(const std::vector<std::string>&)> start) {
    start_ = std::move(start);
  }
  // Called if the command line is valid. Returns the exit code.
  void action(std::function<int()> act) { act_ = std::move(act); }

  // For internal use: the command works, but is not listed.
  void hide() { is_hidden_ = true; }
  bool is_hidden() const noexcept { return is_hidden_; }

  const std::string& name() const noexcept { return name_; }
  const std::string& summary() const noexcept { return summary_; }
  std::string help() const;

  // Runs the command with the words after the subcommand's name.
  int run(const std::vector<std::string>& words);

 private:
  struct Field {
    std::string names;
    std::string value;  // empty: a flag
    std::string help;
    Setter set;
    bool* target = nullptr;
    bool is_value_optional = false;
  };

  using Given = std::vector<std::string>;  // one entry per occurrence of the option

  std::vector<std::string> mistakes_in(std::vector<std::string> words);
  std::vector<std::string> take_program(std::vector<std::string>& words) const;
  std::vector<Given> parse(std::vector<std::string> words, std::vector<std::string>& mistakes);
  std::size_t program_begin(const std::vector<std::string>& words) const;
  std::string about_unknown(const std::string& word) const;
  const Field* field_of(std::string_view option) const;

  std::string name_, summary_, example_;
  std::vector<Field> fields_;
  std::vector<Field> arguments_;
  Field words_;
  std::function<std::string(const std::vector<std::string>&)> set_words_;
  std::string program_help_;
  std::function<std::string(const std::vector<std::string>&)> set_program_;
  std::function<void(const std::vector<std::string>&)> take_words_;
  std::function<int(const std::vector<std::string>&)> start_;
  std::function<int()> act_;
  bool is_hidden_ = false;
};

// Selects and runs the subcommand; handles --help, --version and help COMMAND.
int run_commands(std::vector<Command>& commands, const std::vector<std::string>& words);

}  // namespace trireme::cli
