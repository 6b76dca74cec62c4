// Cgroup finds the control groups that this process lives in, of either version, and reads what
// they say about processor time and out-of-memory kills.
//
// Meaning: limits hold together: a quota is the least of our own group and all those above it.
// Failure: what is missing or unreadable counts as "no limit" and "no count": a host without
//          control groups is a normal host.
// Threads: const members read files; any thread may call.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "trireme/base/control_group.h"

namespace trireme::cluster::launch::host {

class Cgroup {
 public:
  // Of the calling process. `root` is put before every path; tests have a tree of their own.
  explicit Cgroup(const std::filesystem::path& root = "/");

  // Processors' worth of time that we may use; nothing: no limit.
  std::optional<double> processor_quota() const;

  // In which a quota has kept processes of our group from running so far; 0 where nobody counts.
  double throttled_seconds() const;

  // Bytes of memory, and processes with their threads, that we may have; nothing: no limit.
  std::optional<std::uint64_t> memory_limit() const;
  std::optional<std::uint64_t> processes_limit() const;

  // How many processes of our memory group the kernel has killed for want of memory so far.
  std::optional<std::uint64_t> oom_kills() const;

 private:
  static std::optional<std::uint64_t> least_of(const std::optional<ControlGroup>& hierarchy,
                                               const char* file);

  std::optional<ControlGroup> unified_;              // version 2
  std::optional<ControlGroup> cpu_, memory_, pids_;  // version 1
};

}  // namespace trireme::cluster::launch::host
