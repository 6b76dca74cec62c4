// The option -n, shared by all commands that start ranks.

#pragma once

#include <string>

namespace trireme::cli {

// A number from 1 to 4096, or auto: one rank per core. Returns what is wrong with the text, or "".
std::string set_ranks(int& ranks, const std::string& text);

}  // namespace trireme::cli
