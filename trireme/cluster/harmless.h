// Whether a process that is being killed can still do anything.
//
// A killed process runs no instruction of its own once each of its threads has begun to exit, and
// that is long before it is gone: taking its memory down takes tens of milliseconds. Whoever only
// needs to know that nothing more will be written to shared memory need not wait for the latter.
//
// Failure: what /proc does not tell counts as "it may"; the caller has a pidfd for certainty.
// Pure:    has_ended() reads one line of /proc/<pid>/task/<tid>/stat.

#pragma once

#include <string_view>

namespace trireme::cluster {

// Whether the thread that this line describes has begun to exit, or is a zombie.
bool has_ended(std::string_view stat) noexcept;

// Whether all threads of this process have. REQUIRES: it was sent SIGKILL, so that no thread of it
// can start another one. True for a process that does not exist.
bool is_harmless(int pid);

}  // namespace trireme::cluster
