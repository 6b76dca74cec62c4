// What this process may run on: the affinity mask, with each processor's place in the host, and
// the control group's quota. cores.h deals it out.
//
// Failure: Io when the kernel does not tell the mask. Unreadable topology counts every processor
//          as a physical core of its own.
// Threads: reads only.

#pragma once

#include <filesystem>
#include <vector>

#include "trireme/cluster/launch/host/cores.h"

namespace trireme::cluster::launch::host {

// The calling thread's affinity mask; `root` holds sys/devices/system/cpu.
std::vector<Processor> allowed_processors(const std::filesystem::path& root = "/");

// Binds the calling thread. Returns 0 or an errno; allocates nothing, for use after fork(2).
int bind_to(const int* processors, int count) noexcept;

}  // namespace trireme::cluster::launch::host
