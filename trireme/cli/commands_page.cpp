#include "trireme/cli/commands_page.h"

namespace trireme::cli {
namespace {

// In the cell of a table, where "|" would begin the next cell.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string row(const CommandInput& field) {
  return "| `" + cell(field.shown()) + "` | " + cell(field.help) + " |\n";
}

std::string section(const Syntax& syntax) {
  std::string text = "### trireme " + syntax.name + "\n\n" + syntax.summary + ".\n\n";
  text += "<!-- not run: the form of the command, and examples -->\n```sh\n";
  text += usage(syntax) + "\n";
  for (const std::string& example : syntax.examples) text += "\n" + example;
  text += "\n```\n\n| word or option | meaning |\n|---|---|\n";
  for (const CommandInput& field : syntax.arguments) text += row(field);
  if (syntax.words) text += row(*syntax.words);
  if (syntax.program) text += row(*syntax.program);
  for (const CommandInput& field : syntax.options) text += row(field);
  return text + row({.names = "-h,--help", .help = "print this and exit"}) + "\n";
}

}  // namespace

std::string commands_page(const std::vector<Syntax>& commands) {
  std::string text =
      "# Commands\n\n"
      "Every command of `trireme` with its options. This page is made from the commands, and a "
      "test\n"
      "compares them; `trireme COMMAND --help` prints the same.\n"
      "\n"
      "- An option is written `--option value` or `--option=value`; if it is given twice, the "
      "last\n"
      "  one counts. Words in capitals stand for a value of yours, words in lower case that are\n"
      "  separated by `|` are the values that there are.\n"
      "- `key=value` is a setting of the recipe, as in [config.md](config.md): `train.epochs=2`.\n"
      "- [Exit codes](jobs.md#exit-codes), [output as JSON](jobs.md#output-as-json) and\n"
      "  [completion in a shell](building.md#completion-in-a-shell) are described once, for all "
      "commands.\n"
      "\n";
  std::string group;
  for (const Syntax& syntax : commands) {
    if (syntax.is_hidden || syntax.is_forwarded) continue;
    if (syntax.group.title != group) text += "## " + syntax.group.title + "\n\n";
    group = syntax.group.title;
    text += section(syntax);
  }
  text.pop_back();
  return text;
}

}  // namespace trireme::cli
