// Command is one subcommand of `trireme`: its options, its help and what it does. CLI11 is behind
// it, in command.cpp alone.
//
//   Command command("stop", "End a running job", "trireme stop brisk-heron");
//   command.argument("JOB", "the job's name", set_text(name));
//   command.flag("--kill", "do not ask, kill", &is_kill);
//   command.action([=] { …; return 0; });
//
// Failure: run() collects every mistake in the command line before it reports them, each on a
//          line, and returns 2 without having called the action. Whatever the action throws is
//          reported too, and decides the exit status: see trireme/base/exit_status.h.
// Threads: one.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::cli {

// Takes a value's text; returns what is wrong with it, or nothing.
using Setter = std::function<std::string(const std::string&)>;

Setter set_text(std::string& target);

class Command {
 public:
  Command(std::string name, std::string summary, std::string example);

  // `names` as in "-n,--ranks"; `value` is what help calls it.
  void option(std::string names, std::string value, std::string help, Setter set);
  void flag(std::string names, std::string help, bool& target);
  // One word that has to be there.
  void argument(std::string value, std::string help, Setter set);
  // Any number of words that are no options, after the arguments.
  void words(std::string value, std::string help,
             std::function<std::string(const std::vector<std::string>&)> set);
  // A program and everything after it, none of it ours, with or without `--` before it.
  void program(std::string help, std::function<std::string(const std::vector<std::string>&)> set);
  // Called when the command line is right. Returns the exit code.
  void action(std::function<int()> act) { act_ = std::move(act); }

  // For our own use: it works, and no list shows it.
  void hide() { is_hidden_ = true; }
  bool is_hidden() const noexcept { return is_hidden_; }

  const std::string& name() const noexcept { return name_; }
  const std::string& summary() const noexcept { return summary_; }
  std::string help() const;

  // The words after the subcommand's name.
  int run(const std::vector<std::string>& words);

 private:
  struct Field {
    std::string names;
    std::string value;  // empty: a flag
    std::string help;
    Setter set;
    bool* target = nullptr;
  };

  using Given = std::vector<std::string>;  // each time the value was written

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
  std::function<int()> act_;
  bool is_hidden_ = false;
};

// Picks the subcommand and runs it; knows --help, --version and help COMMAND.
int run_commands(std::vector<Command>& commands, const std::vector<std::string>& words);

}  // namespace trireme::cli
