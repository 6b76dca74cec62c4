// OomWatch distinguishes a rank that the kernel's out-of-memory killer killed from one that was
// killed by kill -9: both die of signal 9.
//
// Evidence:      it reads the kernel's log (which names the process), the memory control group's
//                count and the host's count, from its construction on. The log and the group are
//                proof; the host's count alone only makes it likely, since the victim may belong to
//                another job.
// Errors:        unreadable sources are ignored; if nothing is readable, every answer is No.
// Thread safety: one thread.

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
  // `root` is prepended to every path; tests use their own tree.
  explicit OomWatch(const std::filesystem::path& root = "/");
  ~OomWatch();
  OomWatch(const OomWatch&) = delete;
  OomWatch& operator=(const OomWatch&) = delete;

  // Whether `pid`, which died of signal 9, was such a victim. Each counted kill explains one death,
  // so ask once per dead process.
  OomKill explain(pid_t pid);

 private:
  void read_kernel_log();

  Cgroup cgroup_;
  std::filesystem::path vmstat_;
  std::optional<std::uint64_t> group_kills_;
  std::optional<std::uint64_t> host_kills_;
  int kernel_log_ = -1;
  std::string victims_;  // "Killed process 17 " for each such line of the log
};

}  // namespace trireme::cluster::launch::host
