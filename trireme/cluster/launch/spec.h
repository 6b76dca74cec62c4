// JobSpec is what the user requested from `trireme run`.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/cluster/launch/hosts/list/host_list.h"

namespace trireme::cluster::launch {

// A job whose workers may join and leave while it runs: see elastic/supervision.h.
struct Elastic {
  // Training needs at least `least` workers; more than `most` are never started.
  int least = 1;
  int most = 128;
  // The maximum number of replacements within `restart_window`.
  int restarts_max = 10;
  Duration restart_window = std::chrono::minutes(10);
  // How long workers continue when no process watches them any more.
  Duration orphan_timeout = std::chrono::seconds(60);
  // A worker that trains alone is killed after this time without a heartbeat; zero: never.
  Duration heartbeat = Duration::zero();
  // A worker that has not announced itself in the store for so long after its start is killed and
  // replaced; zero: never.
  Duration join_max = Duration::zero();
  // Added to the command when all workers died and the job restarts.
  std::vector<std::string> resume_arguments{};
};

// A job on several hosts: see hosts/fleet.h.
struct Hosts {
  std::vector<hosts::HostRanks> list;
  // The command that reaches a host. The host's name follows, and then a command line for its login
  // shell (ssh) or a program with its arguments (srun).
  std::vector<std::string> ssh{"ssh", "-o", "BatchMode=yes"};
  bool has_login_shell = true;
  // Where the other hosts reach this one; empty: derived from the route to the first of them.
  std::string address{};
  // The interface by which every host is reached; empty: derived from the route to this host.
  std::string interface{};
  // Files that every host needs, besides the program.
  std::vector<std::filesystem::path> files{};
};

// One rank to start.
struct RankOrder {
  int rank = 0;
  int size = 1;                          // how many ranks start together
  std::vector<std::string> arguments{};  // in addition to the job's
};

struct JobSpec {
  std::vector<std::string> command;  // the program as the user wrote it, and its arguments
  std::filesystem::path program;     // where it was found
  int ranks = 1;
  std::string name{};  // empty: generated
  // How long ranks may take to end after they were asked to, before they are killed.
  Duration grace = std::chrono::seconds(5);
  bool bind = true;  // give each rank its own processors if there are enough
  // Folder for events, metrics and a log per rank; empty: nothing is kept.
  std::filesystem::path output{};
  // Where the program writes its own results, including metrics.jsonl, for `trireme jobs` and
  // `watch`; empty: unknown.
  std::filesystem::path results{};
  // The least that a rank needs, as far as known: a job that cannot fit is refused.
  std::uint64_t memory_each = 0;  // bytes; 0: unknown
  int threads_each = 1;
  // Where the job's store is, etcd://...; empty: its launcher or coordinator serves one.
  std::string store{};
  // nullopt: the job ends with the first rank that fails.
  std::optional<Elastic> elastic{};
  // nullopt: on this host. REQUIRES: `ranks` equals the total number of ranks of these hosts.
  std::optional<Hosts> hosts{};

  // What its ranks are called.
  const char* noun() const { return elastic ? "worker" : "rank"; }
  // How long an elastic job continues without the process that the user started.
  std::optional<Duration> orphan_timeout() const {
    return elastic ? std::optional(elastic->orphan_timeout) : std::nullopt;
  }
  // The job's output folder for display.
  std::string output_shown() const { return (output.empty() ? results : output).string(); }
  std::string command_line() const {
    std::string text;
    for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
    return text;
  }
};

}  // namespace trireme::cluster::launch
