// run_or_sweep() is the last resort of a process that watches a job: whatever happens inside, no
// descendant process and no folder of the job is left.

#pragma once

#include <functional>

#include "trireme/cluster/launch/job/folder.h"

namespace trireme::cluster::launch {

// Returns what `body` returns; if it throws, prints the error to standard error and returns the
// exit code of a failure.
int run_or_sweep(const job::Folder& folder, const std::function<int()>& body) noexcept;

}  // namespace trireme::cluster::launch
