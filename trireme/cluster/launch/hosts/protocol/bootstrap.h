// How `trireme` is started on another host: a line of shell, passed to ssh, that finds the same
// program there, or reads it from its standard input, and then executes it as the agent.
//
// Output:        on standard output, each as its own line: kWant, after which it reads the
//                program's bytes; kHere, after which the agent's frames follow. A login shell may
//                print other text before.
// Location:      the path that the program has on this host, or the cache (job_file.h); in either
// case
//                only if its SHA-256 is the same.
// Requires:      sh, sha256sum, cut, head, mkdir, chmod, mv on the other host. The line contains no
//                quote, newline, backslash or exclamation mark inside, so that any login shell
//                passes it on unchanged.
// Thread safety: pure function.

#pragma once

#include <string>
#include <string_view>

#include "trireme/cluster/launch/hosts/protocol/job_file.h"

namespace trireme::cluster::launch::hosts {

inline constexpr std::string_view kWant = "\n@trireme want\n";
inline constexpr std::string_view kHere = "\n@trireme here\n";

// The last argument of ssh; `self` is this program.
std::string bootstrap_line(const JobFile& self);

}  // namespace trireme::cluster::launch::hosts
