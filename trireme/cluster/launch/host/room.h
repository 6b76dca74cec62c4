// Room is the free capacity of a host for the ranks of a job; mistake_in_size() detects a job that
// cannot fit, before it overloads the host.
//
// Estimate:      memory is what the kernel reports as available, or the control group's limit if
//                that is less; a limit that cannot be read is ignored.
// Thread safety: measure() reads files; the rest is pure.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace trireme::cluster::launch::host {

struct Room {
  std::optional<std::uint64_t> memory{};     // bytes
  std::optional<std::uint64_t> processes{};  // including threads, as the kernel counts them
  std::optional<std::uint64_t> files{};      // maximum number of descriptors per process

  // `root` is prepended to every path; tests use their own tree.
  static Room measure(const std::filesystem::path& root = "/");
};

struct RoomNeeded {
  int ranks = 1;
  std::uint64_t memory_each = 0;  // bytes; 0: unknown
  int threads_each = 1;
};

// Empty if the job fits, else what is missing and what to do.
std::string mistake_in_size(const Room& room, const RoomNeeded& needed);

}  // namespace trireme::cluster::launch::host
