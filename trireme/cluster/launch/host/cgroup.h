// Cgroup finds the control groups of this process, of either version, and reads their processor
// quota, memory limits and out-of-memory kills.
//
// Limits:        all limits apply together: a quota is the minimum over the process's own group and
//                all its parents.
// Errors:        missing or unreadable values count as "no limit" and "no count": a host without
//                control groups is a normal host.
// Thread safety: const members read files; any thread may call.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "trireme/base/machine/control_group.h"

namespace trireme::cluster::launch::host {

class Cgroup {
 public:
  // The groups of the calling process. `root` is prepended to every path; tests use their own tree.
  explicit Cgroup(const std::filesystem::path& root = "/");

  // Processor time that this process may use, in processors; nullopt: no limit.
  std::optional<double> processor_quota() const;

  // How long a quota has throttled processes of this group so far; 0 if it is not counted.
  double throttled_seconds() const;

  // The maximum memory in bytes, and the maximum number of processes and threads; nullopt: no
  // limit.
  std::optional<std::uint64_t> memory_limit() const;
  std::optional<std::uint64_t> processes_limit() const;

  // How many processes of this memory group the out-of-memory killer has killed so far.
  std::optional<std::uint64_t> oom_kills() const;

 private:
  static std::optional<std::uint64_t> least_of(const std::optional<ControlGroup>& hierarchy,
                                               const char* file);

  std::optional<ControlGroup> unified_;              // version 2
  std::optional<ControlGroup> cpu_, memory_, pids_;  // version 1
};

}  // namespace trireme::cluster::launch::host
