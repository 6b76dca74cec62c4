// The program's side of completion. The script that `trireme completion SHELL` prints calls
//
//   trireme --complete WORD... LAST
//
// with the words after the program's name, and reads the answer: a line that names the files which
// the shell should offer besides (none, files, folders, recipes or programs), then one line for
// each candidate, with a tab before its help.
//
// Errors:        none are shown, because they would appear in the middle of the user's command
//                line: what cannot be read is not offered.
// Thread safety: one thread.

#pragma once

#include <string>
#include <vector>

#include "trireme/cli/command.h"

namespace trireme::cli::completion {

inline constexpr const char* kRequest = "--complete";

// Prints the answer; returns the exit code. A command that another program implements is answered
// by that program.
int answer(std::vector<Command>& commands, const std::vector<std::string>& words);

}  // namespace trireme::cli::completion
