// The page docs/commands.md: every command with its options, made from the commands themselves.
//
// Thread safety: pure functions.

#pragma once

#include <string>
#include <vector>

#include "trireme/cli/syntax.h"

namespace trireme::cli {

// In this order, below the titles of their groups. Hidden commands are left out, and so are those
// that another program parses: give the commands of that program.
std::string commands_page(const std::vector<Syntax>& commands);

}  // namespace trireme::cli
