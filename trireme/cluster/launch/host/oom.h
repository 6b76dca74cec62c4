// OomWatch tells a rank that the kernel killed for want of memory from one that somebody killed
// with kill -9: both die of signal 9.
//
// Meaning: it looks at the kernel's log (which names the process), the memory control group's
//          count and the host's count, from its construction on. The log and the group are proof;
//          the host's count alone only makes it likely, since the victim may be another's.
// Failure: what cannot be read is left out; with nothing readable every answer is No.
// Threads: one thread.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trireme/cluster/launch/host/cgroup.h"

namespace trireme::cluster::launch::host {

enum class OomKill : unsigned char { No, Likely, Proven };

class OomWatch {
 public:
  // `root` is put before every path; tests have a tree of their own.
  explicit OomWatch(const std::filesystem::path& root = "/");
  ~OomWatch();
  OomWatch(const OomWatch&) = delete;
  OomWatch& operator=(const OomWatch&) = delete;

  // Whether `pid`, which died of signal 9, was such a victim. Each counted kill explains one
  // death, so ask once a dead process.
  OomKill explain(pid_t pid);

 private:
  void read_kernel_log();

  Cgroup cgroup_;
  std::filesystem::path vmstat_;
  std::optional<std::uint64_t> group_kills_;
  std::optional<std::uint64_t> host_kills_;
  int kernel_log_ = -1;
  std::string victims_;  // "Killed process 17 " for each line of the log that says so
};

}  // namespace trireme::cluster::launch::host
