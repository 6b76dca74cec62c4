#include "trireme/cli/completion/candidates.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace trireme::cli::completion {
namespace {

using Words = std::vector<std::string>;

const std::map<std::string_view, Files> kFilePlaceholders = {
    {"RECIPE", Files::Recipes},  {"FILE", Files::Any},        {"PATH", Files::Any},
    {"INPUT", Files::Any},       {"DIR", Files::Folders},     {"FOLDER", Files::Folders},
    {"DIR,DIR", Files::Folders}, {"PROGRAM", Files::Programs}};

bool is_upper(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c < 'a' || c > 'z'; });
}

// One command line, and the word that is completed.
class Line {
 public:
  Line(const Syntax& syntax, Words words, const CandidateSources& sources)
      : syntax_(syntax), words_(std::move(words)), sources_(sources) {
    typed_ = words_.back();
    words_.pop_back();
  }

  // The words of the program that the command starts, the last one unfinished; empty if the line
  // has not come that far.
  Words program() const {
    if (!syntax_.program) return {};
    std::size_t begin = program_begin(syntax_, words_);
    if (begin < words_.size() && words_[begin] == "--") {
      ++begin;
    } else if (begin == words_.size()) {
      return {};
    }
    Words all(words_.begin() + static_cast<std::ptrdiff_t>(begin), words_.end());
    all.push_back(typed_);
    return all;
  }

  Candidates all() const {
    std::size_t argument = 0;
    const CommandInput* pending = read(argument);
    if (pending != nullptr) return values(pending->value);
    if (typed_.starts_with("--") && typed_.find('=') != typed_.npos) {
      const std::string name = typed_.substr(0, typed_.find('='));
      const CommandInput* field = syntax_.option(name);
      return field == nullptr ? Candidates{} : values(field->value, name + "=");
    }
    if (typed_.starts_with('-')) return options();
    if (argument < syntax_.arguments.size()) return values(syntax_.arguments[argument].value);
    if (syntax_.words) {
      const bool is_done = syntax_.words->is_single && argument > syntax_.arguments.size();
      return is_done ? Candidates{} : values(syntax_.words->value);
    }
    return syntax_.program ? values(syntax_.program->value) : Candidates{};
  }

  // Those that can replace a value with this placeholder. `prefix` is the part of the word before
  // the value.
  Candidates values(const std::string& placeholder, const std::string& prefix = "") const {
    Candidates found;
    std::istringstream parts(placeholder);
    for (std::string part; parts >> part;) {
      if (part.starts_with('[') && part.ends_with(']')) part = part.substr(1, part.size() - 2);
      add_values(part, prefix, found);
    }
    std::erase_if(found.words, [&](const Candidate& one) { return !one.word.starts_with(typed_); });
    return found;
  }

 private:
  // Counts the arguments before the word; returns the option whose value it is.
  const CommandInput* read(std::size_t& argument) const {
    const CommandInput* pending = nullptr;
    for (const std::string& word : words_) {
      if (pending != nullptr) {
        pending = nullptr;
      } else if (word.size() < 2 || word[0] != '-') {
        ++argument;
      } else if (const CommandInput* field = syntax_.option(word);
                 field != nullptr && !field->is_flag() && !field->is_value_optional) {
        pending = field;
      }
    }
    return pending;
  }

  Candidates options() const {
    Candidates found;
    const auto add = [&](const CommandInput& field) {
      for (const std::string& name : field.spellings()) {
        if (name.starts_with(typed_)) found.words.push_back({name, field.help});
      }
    };
    std::ranges::for_each(syntax_.options, add);
    add({.names = "-h,--help", .help = "help for this command"});
    return found;
  }

  std::string worker() const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == "--worker" && i + 1 < words_.size()) return words_[i + 1];
      if (words_[i].starts_with("--worker=")) return words_[i].substr(words_[i].find('=') + 1);
    }
    return {};
  }

  void add_values(const std::string& placeholder, const std::string& prefix,
                  Candidates& found) const {
    const auto add = [&](Candidate one) {
      one.word.insert(0, prefix);
      found.words.push_back(std::move(one));
    };
    if (const auto files = kFilePlaceholders.find(placeholder); files != kFilePlaceholders.end()) {
      found.files = files->second;
    } else if (placeholder == "JOB") {
      std::ranges::for_each(sources_.jobs(), add);
    } else if (placeholder == "key=value") {
      std::ranges::for_each(setting_candidates(sources_.schema(worker()), typed_), add);
    } else if (placeholder == "KEY") {
      add_keys(prefix, found);
    } else if (placeholder == "KEY,KEY") {
      const std::size_t comma = typed_.rfind(',');
      add_keys(comma == typed_.npos ? prefix : typed_.substr(0, comma + 1), found);
    } else if (placeholder == "STRATEGY") {
      for (Candidate& one : setting_candidates(sources_.schema(worker()), "sync.kind=")) {
        add({one.word.substr(one.word.find('=') + 1), std::move(one.help)});
      }
    } else {
      std::istringstream words(placeholder);
      for (std::string word; std::getline(words, word, '|');) {
        if (!is_upper(word)) add({word});
      }
    }
  }

  void add_keys(const std::string& prefix, Candidates& found) const {
    const std::string typed = typed_.substr(std::min(prefix.size(), typed_.size()));
    for (Candidate& one : setting_candidates(sources_.schema(worker()), typed)) {
      if (one.word.ends_with('=')) one.word.pop_back();
      found.words.push_back({prefix + one.word, std::move(one.help)});
    }
  }

  const Syntax& syntax_;
  Words words_;  // before the one that is completed
  std::string typed_;
  const CandidateSources& sources_;
};

// The names that begin with these words; of names of two words the next word alone.
Candidates names(const std::vector<Syntax>& commands, const Words& words) {
  const std::string before = words.size() > 1 ? words.front() + " " : "";
  Candidates found;
  for (const Syntax& syntax : commands) {
    if (syntax.is_hidden || !syntax.name.starts_with(before)) continue;
    std::string word = syntax.name.substr(before.size());
    const bool is_whole = word.find(' ') == word.npos;
    word = word.substr(0, word.find(' '));
    const bool is_new = std::ranges::find(found.words, word, &Candidate::word) == found.words.end();
    if (is_new && word.starts_with(words.back())) {
      found.words.push_back({word, is_whole ? syntax.summary : ""});
    }
  }
  if (words.size() > 1) return found;
  for (const char* option : {"--help", "--version"}) {
    if (!words.back().empty() && std::string_view(option).starts_with(words.back())) {
      found.words.push_back({option});
    }
  }
  return found;
}

}  // namespace

Candidates candidates(const std::vector<Syntax>& commands, const Words& words,
                      const CandidateSources& sources) {
  if (words.size() < 2) return names(commands, words.empty() ? Words{""} : words);
  Words rest(words.begin() + 1, words.end());
  if (words.front() == "help") return candidates(commands, rest, sources);
  std::string name = words.front();
  const bool has_second = std::ranges::any_of(
      commands, [&](const Syntax& one) { return one.name.starts_with(name + " "); });
  if (has_second) {
    if (rest.size() == 1) return names(commands, words);
    name += " " + rest.front();
    rest.erase(rest.begin());
  }
  const auto syntax = std::ranges::find(commands, name, &Syntax::name);
  if (syntax == commands.end()) return {};
  const Line line(*syntax, rest, sources);
  const Words program = line.program();
  if (program.empty()) return line.all();
  if (program.size() == 1) return line.values(syntax->program->value);
  const bool is_command = syntax->program->value.find('|') != std::string::npos;
  return is_command ? candidates(commands, program, sources) : Candidates{.files = Files::Any};
}

}  // namespace trireme::cli::completion
