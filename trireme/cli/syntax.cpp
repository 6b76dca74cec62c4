#include "trireme/cli/syntax.h"

#include <algorithm>

namespace trireme::cli {
namespace {

constexpr int kColumn = 28;

}  // namespace

std::vector<std::string> CommandInput::spellings() const {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t comma = std::min(names.find(',', at), names.size());
    all.push_back(names.substr(at, comma - at));
    at = comma + 1;
  }
  return all;
}

std::string CommandInput::shown() const {
  if (names.empty()) return value;
  if (is_flag()) return names;
  return is_value_optional ? names + "[=" + value + "]" : names + " " + value;
}

const CommandInput* Syntax::option(std::string_view spelling) const {
  for (const CommandInput& field : options) {
    const std::vector<std::string> all = field.spellings();
    if (std::ranges::find(all, spelling) != all.end()) return &field;
  }
  return nullptr;
}

std::string usage(const Syntax& syntax) {
  std::string text = "trireme " + syntax.name;
  if (!syntax.options.empty()) text += " [OPTIONS]";
  for (const CommandInput& field : syntax.arguments) text += " " + field.value;
  if (syntax.words) {
    text += " [" + syntax.words->value + (syntax.words->is_single ? "]" : " ...]");
  }
  if (syntax.program) text += " [--] " + syntax.program->value + " [ARGUMENTS]";
  return text;
}

std::size_t program_begin(const Syntax& syntax, const std::vector<std::string>& words) {
  std::size_t i = 0;
  while (i < words.size() && words[i].size() > 1 && words[i][0] == '-' && words[i] != "--") {
    const CommandInput* field = syntax.option(words[i]);
    i += field != nullptr && !field->is_flag() && !field->is_value_optional ? 2 : 1;
  }
  return std::min(i, words.size());
}

std::string two_columns(const std::string& left, const std::string& right, int column, int width) {
  const auto from = static_cast<std::size_t>(column);
  const auto most = static_cast<std::size_t>(std::clamp(width, column + 20, kHelpWidthMax));
  std::string text, line = "  " + left;
  // A left side without room beside it stands on a line of its own.
  if (line.size() + 2 > from) {
    text += line + "\n";
    line.clear();
  }
  line.resize(from, ' ');
  for (std::size_t at = 0; at < right.size();) {
    const std::size_t end = std::min(right.find(' ', at), right.size());
    const std::size_t size = end - at;
    const bool is_first = line.size() == from;
    if (!is_first && line.size() + 1 + size > most) {
      text += line + "\n";
      line.assign(from, ' ');
    } else if (!is_first) {
      line += ' ';
    }
    line += right.substr(at, size);
    at = end + 1;
  }
  return text + line + "\n";
}

std::string help_text(const Syntax& syntax, int width) {
  std::string text = syntax.summary + "\n\nUsage: " + usage(syntax) + "\n\n";
  const auto add = [&](const CommandInput& field) {
    text += two_columns(field.shown(), field.help, kColumn, width);
  };
  std::ranges::for_each(syntax.arguments, add);
  if (syntax.words) add(*syntax.words);
  if (syntax.program) add(*syntax.program);
  std::ranges::for_each(syntax.options, add);
  add({.names = "-h,--help", .help = "this text"});
  text += syntax.examples.size() == 1 ? "\nExample:\n" : "\nExamples:\n";
  for (const std::string& example : syntax.examples) text += "  " + example + "\n";
  return text;
}

}  // namespace trireme::cli
