// Syntax is what a command accepts, as data. Its help, the page docs/commands.md and the completion
// in a shell are made from it.
//
// Placeholders:  the placeholder of a value says what may stand there. Words in lower case,
//                separated by "|", are the values that there are, as in "auto|none" or "best|N".
//                Others are names in upper case, such as N, FILE and JOB; the shell can complete
//                those that trireme/cli/completion/candidates.h lists.
// Thread safety: a value type; the functions are pure.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::cli {

// An option, a flag, an argument, or the words after the arguments.
struct CommandInput {
  std::string names = {};  // "-n,--ranks"; empty: not an option
  std::string value = {};  // the placeholder of the value; empty: a flag
  std::string help = {};
  bool is_value_optional = false;  // "--resume[=auto]"
  bool is_single = false;          // of `words`: at most one

  bool is_flag() const { return value.empty(); }
  std::vector<std::string> spellings() const;  // {"-n", "--ranks"}
  std::string shown() const;                   // "-n,--ranks N"
};

// A heading below which the overview lists commands.
struct CommandGroup {
  std::string title = {};
  std::string example = {};  // of one of its commands
};

struct Syntax {
  std::string name;  // of one word or two: "bench comm"
  std::string summary;
  std::vector<std::string> examples;
  CommandGroup group = {};
  std::vector<CommandInput> options = {};
  std::vector<CommandInput> arguments = {};
  std::optional<CommandInput> words = {};
  std::optional<CommandInput> program =
      {};  // a program and its own arguments, which are not parsed
  bool is_hidden = false;
  bool is_forwarded = false;  // another program parses its words

  const CommandInput* option(std::string_view spelling) const;
};

// "trireme train [OPTIONS] RECIPE [key=value ...]"
std::string usage(const Syntax& syntax);

// The index of the first word that is neither an option of this command nor the value of one: where
// `program` begins.
std::size_t program_begin(const Syntax& syntax, const std::vector<std::string>& words);

// Wider lines are tiring to read.
inline constexpr int kHelpWidthMax = 100;

// The output of --help, for a terminal of this many columns.
std::string help_text(const Syntax& syntax, int width);

// `left`, indented, and `right` from `column` on, wrapped at `width` or kHelpWidthMax.
std::string two_columns(const std::string& left, const std::string& right, int column, int width);

}  // namespace trireme::cli
