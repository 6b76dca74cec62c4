// run_or_sweep() is the last resort of a process that watches a job: whatever happens inside, no
// descendant and no folder of the job is left.

#pragma once

#include <functional>

#include "trireme/cluster/launch/job/folder.h"

namespace trireme::cluster::launch {

// What `body` returns; the exit code of a failure, with what it threw on the standard error.
int run_or_sweep(const job::Folder& folder, const std::function<int()>& body) noexcept;

}  // namespace trireme::cluster::launch
