// JobSpec is what a person asked `trireme run` for.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/cluster/launch/hosts/host_list.h"

namespace trireme::cluster::launch {

// A job whose workers may come and go: see supervision.h.
struct Elastic {
  // Fewer than these and nobody trains; more are never started.
  int least = 1;
  int most = 128;
  // Replacements, at most so many within `restart_window`.
  int restarts_max = 10;
  Duration restart_window = std::chrono::minutes(10);
  // How long workers go on when nobody watches them any more.
  Duration orphan_timeout = std::chrono::seconds(60);
  // A worker that trains alone and whose heart is silent for so long is killed; zero: never.
  Duration heartbeat = Duration::zero();
  // Added to the command when all workers died and the job begins anew.
  std::vector<std::string> resume_arguments{};
};

// A job on several hosts: see hosts/launcher.h.
struct Hosts {
  std::vector<hosts::HostRanks> list;
  // How a host is reached; its name follows, and a line for its login shell (ssh) or a program and
  // its arguments (srun).
  std::vector<std::string> ssh{"ssh", "-o", "BatchMode=yes"};
  bool has_login_shell = true;
  // Where the others reach this host; empty: the way to the first of them says it.
  std::string address{};
  // By which every host is reached; empty: the way to this one says it.
  std::string interface{};
  // What every host must have, besides the program.
  std::vector<std::filesystem::path> files{};
};

struct JobSpec {
  std::vector<std::string> command;  // the program as it was written, and its arguments
  std::filesystem::path program;     // where it was found
  int ranks = 1;
  std::string name{};  // empty: made up
  // How long ranks may take to end once they were asked, before they are killed.
  Duration grace = std::chrono::seconds(5);
  bool bind = true;  // give each rank processors of its own, where there are enough
  // Keeps events, metrics and a log a rank there; empty: nothing is kept.
  std::filesystem::path output{};
  // What a rank needs at least, as far as anybody knows: a job that cannot fit is refused.
  std::uint64_t memory_each = 0;  // bytes; 0: unknown
  int threads_each = 1;
  // Where the job's store is, etcd://...; empty: its launcher or coordinator serves one.
  std::string store{};
  // Nothing: the job ends with the first rank that fails.
  std::optional<Elastic> elastic{};
  // Nothing: on this host. REQUIRES: as many ranks as these have.
  std::optional<Hosts> hosts{};

  // How long an elastic job goes on without the process that the user started.
  std::optional<Duration> orphan_timeout() const {
    return elastic ? std::optional(elastic->orphan_timeout) : std::nullopt;
  }
  std::string command_line() const {
    std::string text;
    for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
    return text;
  }
};

}  // namespace trireme::cluster::launch
