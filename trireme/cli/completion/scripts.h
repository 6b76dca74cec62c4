// The scripts that complete command lines of `trireme` in a shell. They know no command: they ask
// the program for every word (trireme/cli/completion/answer.h), so that they never go out of date.
//
// Thread safety: pure functions.

#pragma once

#include <string>
#include <string_view>

namespace trireme::cli::completion {

// Of "bash", "zsh" or "fish"; empty for another shell.
std::string_view script_for(const std::string& shell);

}  // namespace trireme::cli::completion
