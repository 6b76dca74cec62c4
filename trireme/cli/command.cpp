#include "trireme/cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "trireme/base/exit_status.h"
#include "trireme/base/text/nearest.h"

namespace trireme::cli {
namespace {

std::vector<std::string> split_names(const std::string& names) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t comma = std::min(names.find(',', at), names.size());
    all.push_back(names.substr(at, comma - at));
    at = comma + 1;
  }
  return all;
}

int report(const std::string& program, const std::vector<std::string>& mistakes) {
  for (const std::string& mistake : mistakes) {
    std::fprintf(stderr, "trireme: %s\n", mistake.c_str());
  }
  std::fprintf(stderr, "Try `%s --help`.\n", program.c_str());
  return kExitUsage;
}

}  // namespace

Setter set_text(std::string& target) {
  return [&target](const std::string& text) {
    target = text;
    return std::string();
  };
}

Command::Command(std::string name, std::string summary, std::string example)
    : name_(std::move(name)), summary_(std::move(summary)), example_(std::move(example)) {}

void Command::option(std::string names, std::string value, std::string help, Setter set) {
  fields_.push_back({std::move(names), std::move(value), std::move(help), std::move(set), nullptr});
}

void Command::flag(std::string names, std::string help, bool& target) {
  fields_.push_back({std::move(names), {}, std::move(help), {}, &target});
}

void Command::flag(std::string names, std::string value, std::string help, Setter set) {
  fields_.push_back(
      {std::move(names), std::move(value), std::move(help), std::move(set), nullptr, true});
}

void Command::argument(std::string value, std::string help, Setter set) {
  arguments_.push_back({{}, std::move(value), std::move(help), std::move(set), nullptr});
}

void Command::words(std::string value, std::string help,
                    std::function<std::string(const std::vector<std::string>&)> set) {
  words_ = {.names = "", .value = std::move(value), .help = std::move(help), .set = {}};
  set_words_ = std::move(set);
}

void Command::program(std::string help,
                      std::function<std::string(const std::vector<std::string>&)> set) {
  program_help_ = std::move(help);
  set_program_ = std::move(set);
}

const Command::Field* Command::field_of(std::string_view option) const {
  for (const Field& field : fields_) {
    for (const std::string& name : split_names(field.names)) {
      if (name == option) return &field;
    }
  }
  return nullptr;
}

// The first word that is neither an option of this command nor the value of one.
std::size_t Command::program_begin(const std::vector<std::string>& words) const {
  std::size_t i = 0;
  while (i < words.size() && words[i].size() > 1 && words[i][0] == '-' && words[i] != "--") {
    const Field* field = field_of(words[i]);
    i += field != nullptr && !field->value.empty() && !field->is_value_optional ? 2 : 1;
  }
  return std::min(i, words.size());
}

std::string Command::about_unknown(const std::string& word) const {
  if (!word.starts_with('-')) return "unexpected argument " + word;
  std::vector<std::string> names{"--help"};
  for (const Field& field : fields_) {
    for (std::string& name : split_names(field.names)) names.push_back(std::move(name));
  }
  const std::string option = word.substr(0, word.find('='));
  std::string text = "unknown option " + option;
  if (const auto near = nearest(option, names)) text += "; did you mean " + *near + "?";
  return text;
}

// Removes the program and its arguments from the end of `words` and returns them.
std::vector<std::string> Command::take_program(std::vector<std::string>& words) const {
  const std::size_t begin = program_begin(words);
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
  std::vector<Given> given(fields_.size() + arguments_.size());
  std::vector<std::string> flags(fields_.size());
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].value.empty()) {
      app.add_flag(fields_[i].names, *fields_[i].target);
    } else if (fields_[i].is_value_optional) {
      app.add_flag(fields_[i].names, flags[i]);
    } else {
      // If a value is given more than once, the last one counts, as in most programs.
      app.add_option(fields_[i].names, given[i])->expected(1)->allow_extra_args(false)->take_last();
    }
  }
  // Each argument accepts one word; a list would also take the words of the following arguments.
  std::vector<std::string> single(arguments_.size());
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    app.add_option(arguments_[i].value, single[i]);
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
    if (!single[i].empty()) given[fields_.size() + i] = {single[i]};
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
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (!given[i].empty()) note(fields_[i].set(given[i].back()));
  }
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const Given& value = given[fields_.size() + i];
    note(value.empty() ? arguments_[i].value + " is missing" : arguments_[i].set(value.back()));
  }
  if (set_program_) note(set_program_(program));
  return mistakes;
}

std::string Command::help() const {
  std::string text = summary_ + "\n\nUsage: trireme " + name_;
  if (!fields_.empty()) text += " [OPTIONS]";
  for (const Field& field : arguments_) text += " " + field.value;
  if (set_words_) text += " [" + words_.value + " ...]";
  if (set_program_) text += " [--] PROGRAM [ARGUMENTS]";
  text += "\n\n";
  const auto line = [&](const std::string& left, const std::string& right) {
    constexpr std::size_t kColumn = 26;
    text += "  " + left + std::string(left.size() < kColumn ? kColumn - left.size() : 1, ' ');
    text += right + "\n";
  };
  for (const Field& field : arguments_) line(field.value, field.help);
  if (set_words_) line(words_.value, words_.help);
  if (set_program_) line("PROGRAM", program_help_);
  for (const Field& field : fields_) {
    const std::string value =
        field.is_value_optional ? "[=" + field.value + "]" : " " + field.value;
    line(field.names + (field.value.empty() ? "" : value), field.help);
  }
  line("-h,--help", "this text");
  return text + "\nExample:\n  " + example_ + "\n";
}

int Command::run(const std::vector<std::string>& words) {
  const std::size_t end = set_program_ ? program_begin(words) : words.size();
  for (std::size_t i = 0; i < end && !start_; ++i) {
    if (words[i] == "--help" || words[i] == "-h") {
      std::fputs(help().c_str(), stdout);
      return 0;
    }
  }
  try {
    if (start_) return start_(words);
    const std::vector<std::string> mistakes = mistakes_in(words);
    if (!mistakes.empty()) return report("trireme " + name_, mistakes);
    if (take_words_) take_words_(words);
    return act_();
  } catch (const std::exception& thrown) {
    const Error error = as_error(thrown);
    std::fprintf(stderr, "trireme: %s\n", error.message().c_str());
    return exit_status(error);
  }
}

namespace {

// Of all commands, or of those whose names begin with `group`.
std::string overview(const std::vector<Command>& commands, const std::string& group = "") {
  std::string text = "Trireme trains neural networks on many processes, cores and hosts.\n\n";
  text += "Usage: trireme " + group + "COMMAND [OPTIONS]\n\n";
  std::size_t column = 12;
  const auto is_listed = [&](const Command& command) {
    return !command.is_hidden() && command.name().starts_with(group);
  };
  for (const Command& command : commands) {
    if (is_listed(command)) column = std::max(column, command.name().size() + 2);
  }
  for (const Command& command : commands) {
    if (!is_listed(command)) continue;
    text += "  " + command.name() + std::string(column - command.name().size(), ' ') +
            command.summary() + "\n";
  }
  return text + "\n`trireme " + group + "COMMAND --help` says more about one of them.\n";
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

}  // namespace

int run_commands(std::vector<Command>& commands, const std::vector<std::string>& words) {
  std::vector<std::string> rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  std::string name = words.empty() ? "--help" : words.front();
  if (name == "--version") name = "version";
  if (name == "help" && !rest.empty()) {
    name = rest.front();
    rest.erase(rest.begin());
    rest.emplace_back("--help");
  }
  const auto asks_for_help = [](const std::string& word) {
    return word == "--help" || word == "-h";
  };
  if (asks_for_help(name) || name == "help") {
    std::fputs(overview(commands).c_str(), words.empty() ? stderr : stdout);
    return words.empty() ? kExitUsage : 0;
  }
  const std::vector<std::string> seconds = second_words(commands, name);
  if (!seconds.empty() && !rest.empty() && asks_for_help(rest.front())) {
    std::fputs(overview(commands, name + " ").c_str(), stdout);
    return 0;
  }
  if (!seconds.empty() && !rest.empty() && !rest.front().starts_with('-')) {
    name += " " + rest.front();
    rest.erase(rest.begin());
  }
  std::vector<std::string> names;
  for (Command& command : commands) {
    if (command.name() == name) return command.run(rest);
    if (!command.is_hidden()) names.push_back(command.name());
  }
  std::string mistake = "no command '" + name + "'";
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    mistake += (i == 0 ? "; there is " : ", ") + seconds[i];
  }
  if (!seconds.empty()) return report("trireme", {mistake});
  if (const auto near = nearest(name, names)) mistake += "; did you mean " + *near + "?";
  return report("trireme", {mistake});
}

}  // namespace trireme::cli
