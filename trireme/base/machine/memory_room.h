// memory_room() returns how much memory this process can still allocate before the kernel's
// out-of-memory killer acts: the minimum of what the host has available and what the process's
// control groups (version 1 and 2) allow.
//
// It reads the files again on each call. Another process may take the memory at any time
// afterwards.

#pragma once

#include <cstdint>
#include <filesystem>

namespace trireme {

// In bytes; UINT64_MAX if no limit is known. `root` is prepended to every path.
std::uint64_t memory_room(const std::filesystem::path& root = "/");

}  // namespace trireme
