// How `trireme` comes to run on another host: a line of shell, handed to ssh, that finds the same
// program there, or takes it from its standard input, and becomes its agent.
//
// Said:    on standard output, a line of its own each: kWant, after which it reads the program's
//          bytes; kHere, after which the agent's frames follow. A login shell may say other things
//          before.
// Where:   at the path that it has here, or in the cache (cargo.h), in either case only if its
//          SHA-256 is the same.
// Needs:   sh, sha256sum, cut, head, mkdir, chmod, mv there. The line has no quote, newline,
//          backslash or exclamation mark inside, so that any login shell passes it on as it is.
// Threads: pure.

#pragma once

#include <string>
#include <string_view>

#include "trireme/cluster/launch/hosts/cargo.h"

namespace trireme::cluster::launch::hosts {

inline constexpr std::string_view kWant = "\n@trireme want\n";
inline constexpr std::string_view kHere = "\n@trireme here\n";

// For ssh's last argument; `self` is this program.
std::string bootstrap_line(const Cargo& self);

// In quotes that every shell understands.
std::string shell_quoted(std::string_view text);

}  // namespace trireme::cluster::launch::hosts
