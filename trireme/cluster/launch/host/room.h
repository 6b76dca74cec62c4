// Room is what a host has left for the ranks of a job; mistake_in_size() says when a job cannot
// fit, before it brings the host down.
//
// Meaning: a plain estimate. Memory is what the kernel calls available, or the control group's
//          limit where that is less; a limit that cannot be read does not count.
// Threads: measure() reads files; the rest is pure.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace trireme::cluster::launch::host {

struct Room {
  std::optional<std::uint64_t> memory{};     // bytes
  std::optional<std::uint64_t> processes{};  // and threads, as the kernel counts them
  std::optional<std::uint64_t> files{};      // descriptors a process may have

  // `root` is put before every path; tests have a tree of their own.
  static Room measure(const std::filesystem::path& root = "/");
};

struct RoomNeeded {
  int ranks = 1;
  std::uint64_t memory_each = 0;  // bytes; 0: unknown
  int threads_each = 1;
};

// Empty when it fits, else what is short and what to do.
std::string mistake_in_size(const Room& room, const RoomNeeded& needed);

}  // namespace trireme::cluster::launch::host
