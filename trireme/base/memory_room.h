// memory_room() is how much memory the kernel would still hand out to this process before its
// out-of-memory killer wakes up: the least of what the host has left and what every control group
// above us leaves, of either version.
//
// It reads files each time; another process may take the memory a moment later.

#pragma once

#include <cstdint>
#include <filesystem>

namespace trireme {

// In bytes; UINT64_MAX where nothing says. `root` is put before every path.
std::uint64_t memory_room(const std::filesystem::path& root = "/");

}  // namespace trireme
