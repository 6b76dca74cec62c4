// run_or_sweep() is the last resort of a process that watches a job: whatever happens inside, no
// descendant process and no folder of the job is left.

#pragma once

#include <functional>
#include <string>

#include "trireme/cluster/launch/job/folder.h"

namespace trireme::cluster::launch {

// Returns what `body` returns; if it throws, prints the error to standard error and returns the
// exit code of a failure.
int run_or_sweep(const job::Folder& folder, const std::function<int()>& body) noexcept;

// The same for a process of the job that was killed by this signal: ends every descendant of this
// process and removes the folder. Reports it, unless `victim` is empty.
void sweep_after(const std::string& victim, int signal, const job::Folder& folder);

// Prints a line to standard error.
void say(const std::string& text);

}  // namespace trireme::cluster::launch
