// Where the folders of this user's jobs lie: $XDG_RUNTIME_DIR/trireme, or /tmp/trireme-<uid>
// where there is no such variable.
//
// Safety:  a root is ours alone: a real folder (no link), owned by us, mode 0700. Anything else
//          in its place is refused, since whoever can write there could read the job's secret.
// Threads: any.

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/descriptor.h"

namespace trireme::cluster::launch::job {

// A unix socket's address holds 107 bytes, and a job's is root/name/control.sock.
inline constexpr std::size_t kNameSizeMax = 40;

// Where new jobs go; made if it is not there. Throws InvalidInput for an unsafe one, or Io.
std::filesystem::path own_root();

// Every root that may hold jobs of ours, own_root()'s first; those that are not there or not
// safe are left out. Two shells may disagree about XDG_RUNTIME_DIR.
std::vector<std::filesystem::path> known_roots();

// Makes `root` if need be and throws InvalidInput unless it is safe.
void make_safe(const std::filesystem::path& root);

// Holds off everyone else who makes or sweeps jobs there, while the descriptor lives.
// Throws Deadline when somebody holds it for 5 s.
Descriptor lock_root(const std::filesystem::path& root);

}  // namespace trireme::cluster::launch::job
