// The descendants of this process, and how to end all of them.
//
// Method:        descendants are found by parent links in /proc, so a process that left its
//                session, group or terminal still counts. A process whose parent has exited is
//                reparented to this process once this is a child subreaper (become_subreaper), so
//                that a double fork does not hide a process.
// Errors:        kill_descendants returns how many processes it could not end, which only happens
//                for processes of another user (set-uid) and for those stuck in the kernel.
// Thread safety: only while no other thread of this process waits for children.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "trireme/base/deadline.h"

namespace trireme::cluster::launch::host {

// A process that still exists this long after SIGKILL is stuck in the kernel.
inline constexpr std::chrono::seconds kKillTime{10};

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  unsigned long long start = 0;  // clock ticks since boot; identifies the process together with the
                                 // pid
  bool is_zombie = false;        // all its threads have ended
  bool is_dying = false;         // a zombie, or about to become one
};

// All visible processes of the host; those that vanish meanwhile are left out.
std::vector<Process> list_processes();

std::optional<Process> find_process(pid_t pid);

// Sends SIGKILL to exactly that process, not to a process that has reused its pid.
void kill_process(const Process& process);

// The descendants of `root`, including zombies, without `root`.
std::vector<Process> descendants_of(pid_t root, const std::vector<Process>& all);

// From now on orphaned descendants become children of this process. Throws Io.
void become_subreaper();

// Called for every reaped child, with its pid and wait status.
using Reaped = std::function<void(pid_t, int)>;

// Reaps the children that are dead now, without waiting.
void reap_children(const Reaped& reaped);

// The same, with the identity of each child, read before its pid can be reused.
void reap_known_children(const std::function<void(const Process&, int)>& reaped);

// Kills the processes that a dead process started and left in the group that it led, if they are
// descendants of `root`. It does not use kill(-leader), because the number of an empty group may
// have been reused.
void kill_group(pid_t root, pid_t leader);

// Kills all descendants of this process with SIGKILL, repeatedly until none is left, and reaps
// them. Returns how many were still alive at the deadline.
std::size_t kill_descendants(Deadline deadline, const Reaped& reaped);

}  // namespace trireme::cluster::launch::host
