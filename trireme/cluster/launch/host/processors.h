// What this process may run on: the affinity mask, with each processor's position in the host.
// cores.h distributes it.
//
// Errors:        Io when the kernel does not return the mask. Without readable topology every
//                processor counts as a physical core.
// Thread safety: any thread; bind_to() affects the calling thread.

#pragma once

#include <filesystem>
#include <vector>

#include "trireme/cluster/launch/host/cores.h"

namespace trireme::cluster::launch::host {

// The calling thread's affinity mask; `root` contains sys/devices/system/cpu.
std::vector<Processor> allowed_processors(const std::filesystem::path& root = "/");

// Binds the calling thread. Returns 0 or an errno; allocates nothing, for use after fork(2).
int bind_to(const int* processors, int count) noexcept;

}  // namespace trireme::cluster::launch::host
