// Whether a process that is being killed can still do anything.
//
// A killed process runs no instruction of its own once each of its threads has started to exit.
// That is long before the process is gone, because releasing its memory takes tens of milliseconds.
// A caller that only needs to know that the process will not write to shared memory any more need
// not wait for the latter.
//
// Errors: information missing from /proc counts as "it may still act"; the caller has a pidfd for
//         certainty.
// Pure:   has_ended() reads one line of /proc/<pid>/task/<tid>/stat.

#pragma once

#include <string_view>

namespace trireme::cluster {

// Whether the thread that this line describes has started to exit, or is a zombie.
bool has_ended(std::string_view stat) noexcept;

// Whether all threads of this process have ended in this sense. True for a process that does not
// exist.
// REQUIRES: the process was sent SIGKILL, so that no thread of it can start another one.
bool is_harmless(int pid);

}  // namespace trireme::cluster
