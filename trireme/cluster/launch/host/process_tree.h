// The processes below one of ours, and how to leave none of them.
//
// Meaning: descendants are found by parent links in /proc, so a process that left its session,
//          group or terminal still counts. Orphans come back to us once we are a child subreaper
//          (become_subreaper), so that a double fork hides nobody.
// Failure: kill_descendants says how many it could not end, which only another user's (set-uid)
//          processes and those stuck in the kernel can cause.
// Threads: only while no other thread of this process waits for children.

#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "trireme/base/deadline.h"

namespace trireme::cluster::launch::host {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  unsigned long long start = 0;  // clock ticks since boot; with the pid it names one process
  bool is_zombie = false;
  bool is_dying = false;  // a zombie, or on its way to become one
};

// All processes of the host that we can see; those that vanish meanwhile are left out.
std::vector<Process> list_processes();

std::optional<Process> find_process(pid_t pid);

// SIGKILL for exactly that process, not for whoever got its number meanwhile.
void kill_process(const Process& process);

// Those below `root`, zombies included, `root` not.
std::vector<Process> descendants_of(pid_t root, const std::vector<Process>& all);

// From now on orphaned descendants become our children. Throws Io.
void become_subreaper();

// Told of every child that was reaped: its pid and wait status.
using Reaped = std::function<void(pid_t, int)>;

// Reaps what is dead now, without waiting.
void reap_children(const Reaped& reaped);

// The same, with who each was, read while nobody else can have its number.
void reap_known_children(const std::function<void(const Process&, int)>& reaped);

// Kills what a dead process had started and left in the group that it led, as far as that is below
// `root`. Not as kill(-leader) would: once a group is empty its number may be anybody's.
void kill_group(pid_t root, pid_t leader);

// Kills everything below this process with SIGKILL, again until nothing is left, and reaps it.
// Returns how many were still alive at the deadline.
std::size_t kill_descendants(Deadline deadline, const Reaped& reaped);

}  // namespace trireme::cluster::launch::host
