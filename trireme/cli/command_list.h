// All commands of a program: which one its words select, and the overview of all of them.
//
// Two words:     a command's name may have two words, "bench comm". `bench --help` then lists those
//                that begin with "bench".
// Completion:    `trireme --complete WORD...` answers a shell: see
//                trireme/cli/completion/answer.h.
// Errors:        an unknown command is reported, with the nearest name; the exit code is 2.
// Thread safety: one thread.

#pragma once

#include <string>
#include <vector>

#include "trireme/cli/command.h"

namespace trireme::cli {

// Selects and runs a command; handles --help, --version and help COMMAND. Returns the exit code.
int run_commands(std::vector<Command>& commands, const std::vector<std::string>& words);

// The commands that are not hidden and whose names begin with `prefix`, below the headings of their
// groups, with one example for each group.
std::string overview(const std::vector<Command>& commands, const std::string& prefix, int width);

}  // namespace trireme::cli
