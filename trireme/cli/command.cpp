#include "trireme/cli/command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "trireme/base/exit_status.h"
#include "trireme/base/terminal.h"
#include "trireme/base/text/nearest.h"

namespace trireme::cli {

int report(const std::string& program, const std::vector<std::string>& mistakes) {
  for (const std::string& mistake : mistakes) {
    std::fprintf(stderr, "trireme: %s\n", mistake.c_str());
  }
  std::fprintf(stderr, "Try `%s --help`.\n", program.c_str());
  return kExitUsage;
}

Setter set_text(std::string& target) {
  return [&target](const std::string& text) {
    target = text;
    return std::string();
  };
}

Command::Command(std::string name, std::string summary, std::string example)
    : syntax_{.name = std::move(name),
              .summary = std::move(summary),
              .examples = {std::move(example)}} {}

void Command::add_option(CommandInput field, Setter set, bool* target) {
  syntax_.options.push_back(std::move(field));
  option_setters_.push_back(std::move(set));
  flag_targets_.push_back(target);
}

void Command::option(std::string names, std::string value, std::string help, Setter set) {
  add_option({.names = std::move(names), .value = std::move(value), .help = std::move(help)},
             std::move(set), nullptr);
}

void Command::flag(std::string names, std::string help, bool& target) {
  add_option({.names = std::move(names), .help = std::move(help)}, {}, &target);
}

void Command::flag(std::string names, std::string value, std::string help, Setter set) {
  add_option({.names = std::move(names),
              .value = std::move(value),
              .help = std::move(help),
              .is_value_optional = true},
             std::move(set), nullptr);
}

void Command::argument(std::string value, std::string help, Setter set) {
  syntax_.arguments.push_back({.value = std::move(value), .help = std::move(help)});
  argument_setters_.push_back(std::move(set));
}

void Command::words(std::string value, std::string help, WordsSetter set) {
  syntax_.words = CommandInput{.value = std::move(value), .help = std::move(help)};
  set_words_ = std::move(set);
}

void Command::optional(std::string value, std::string help, Setter set) {
  syntax_.words =
      CommandInput{.value = std::move(value), .help = std::move(help), .is_single = true};
  set_words_ = [set = std::move(set)](const std::vector<std::string>& all) {
    if (all.size() > 1) return "unexpected argument " + all[1];
    return all.empty() ? std::string() : set(all.front());
  };
}

void Command::program(std::string value, std::string help, WordsSetter set) {
  syntax_.program = CommandInput{.value = std::move(value), .help = std::move(help)};
  set_program_ = std::move(set);
}

void Command::forward(std::function<int(const std::vector<std::string>&)> start) {
  syntax_.is_forwarded = true;
  start_ = std::move(start);
}

std::string Command::about_unknown(const std::string& word) const {
  if (!word.starts_with('-')) return "unexpected argument " + word;
  std::vector<std::string> names{"--help"};
  for (const CommandInput& field : syntax_.options) {
    for (std::string& name : field.spellings()) names.push_back(std::move(name));
  }
  const std::string option = word.substr(0, word.find('='));
  std::string text = "unknown option " + option;
  const bool has_settings = syntax_.words && syntax_.words->value == "key=value";
  if (const auto near = nearest(option, names)) {
    text += "; did you mean " + *near + "?";
  } else if (has_settings) {
    text += "; settings of the recipe have no dashes: train.epochs=20";
  }
  return text;
}

// Removes the program and its arguments from the end of `words` and returns them.
std::vector<std::string> Command::take_program(std::vector<std::string>& words) const {
  const std::size_t begin = program_begin(syntax_, words);
  const std::size_t skip = begin < words.size() && words[begin] == "--" ? 1 : 0;
  std::vector<std::string> program(words.begin() + static_cast<std::ptrdiff_t>(begin + skip),
                                   words.end());
  words.resize(begin);
  return program;
}

// Returns the values of the options, then those of the arguments.
std::vector<Command::Given> Command::parse(std::vector<std::string> words,
                                           std::vector<std::string>& mistakes) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const std::vector<CommandInput>& options = syntax_.options;
  std::vector<Given> given(options.size() + argument_setters_.size());
  std::vector<std::string> flags(options.size());
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i].is_flag()) {
      app.add_flag(options[i].names, *flag_targets_[i]);
    } else if (options[i].is_value_optional) {
      app.add_flag(options[i].names, flags[i]);
    } else {
      // If a value is given more than once, the last one counts, as in most programs.
      app.add_option(options[i].names, given[i])->expected(1)->allow_extra_args(false)->take_last();
    }
  }
  // Each argument accepts one word; a list would also take the words of the following arguments.
  std::vector<std::string> single(argument_setters_.size());
  for (std::size_t i = 0; i < single.size(); ++i) {
    app.add_option("argument" + std::to_string(i), single[i]);
  }
  std::vector<std::string> more;
  if (set_words_) app.add_option("words", more)->expected(0, 1 << 16);
  try {
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
    for (const std::string& word : app.remaining()) mistakes.push_back(about_unknown(word));
    if (set_words_) {
      if (std::string mistake = set_words_(more); !mistake.empty()) mistakes.push_back(mistake);
    }
  } catch (const CLI::ParseError& error) {
    mistakes.emplace_back(error.what());
  }
  for (std::size_t i = 0; i < flags.size(); ++i) {
    // "true" is the parser's value for a flag without a value.
    if (!flags[i].empty()) given[i] = {flags[i] == "true" ? "" : flags[i]};
  }
  for (std::size_t i = 0; i < single.size(); ++i) {
    if (!single[i].empty()) given[options.size() + i] = {single[i]};
  }
  return given;
}

std::vector<std::string> Command::mistakes_in(std::vector<std::string> words) {
  std::vector<std::string> mistakes;
  const auto note = [&](std::string mistake) {
    if (!mistake.empty()) mistakes.push_back(std::move(mistake));
  };
  const std::vector<std::string> program =
      set_program_ ? take_program(words) : std::vector<std::string>{};
  const std::vector<Given> given = parse(std::move(words), mistakes);
  for (std::size_t i = 0; i < option_setters_.size(); ++i) {
    if (!given[i].empty()) note(option_setters_[i](given[i].back()));
  }
  for (std::size_t i = 0; i < argument_setters_.size(); ++i) {
    const Given& value = given[option_setters_.size() + i];
    note(value.empty() ? syntax_.arguments[i].value + " is missing"
                       : argument_setters_[i](value.back()));
  }
  if (set_program_) note(set_program_(program));
  return mistakes;
}

int Command::run(const std::vector<std::string>& words) {
  const std::size_t end = set_program_ ? program_begin(syntax_, words) : words.size();
  for (std::size_t i = 0; i < end && !start_; ++i) {
    if (words[i] == "--help" || words[i] == "-h") {
      std::fputs(help_text(syntax_, terminal_at(STDOUT_FILENO).width).c_str(), stdout);
      return 0;
    }
  }
  try {
    if (start_) return start_(words);
    const std::vector<std::string> mistakes = mistakes_in(words);
    if (!mistakes.empty()) return report("trireme " + name(), mistakes);
    if (take_words_) take_words_(words);
    return act_();
  } catch (const std::exception& thrown) {
    const Error error = as_error(thrown);
    std::fprintf(stderr, "trireme: %s\n", error.message().c_str());
    return exit_status(error);
  }
}

}  // namespace trireme::cli
