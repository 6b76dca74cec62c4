// The hosts that a job's ranks run on, as people write them.
//
//   --hosts node1:4,user@node2:4,[fd00::7]:2     a host without a number has one rank
//   --hostfile FILE                              a line a host: node1:4, or node1 slots=4, as Open
//                                                MPI writes it; # begins a comment
//
// Ranks are dealt in the order of the list: the first host has the first ones.
//
// Failure: InvalidInput that names the word, and in a file the line.
// Threads: pure, but for reading the file and this host's name.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::cluster::launch::hosts {

inline constexpr int kRanksMax = 4096;

struct HostRanks {
  std::string name;  // as ssh takes it: node1, user@node1, fd00::7
  int ranks = 1;

  friend bool operator==(const HostRanks&, const HostRanks&) = default;
};

std::vector<HostRanks> parse_hosts(std::string_view text);
std::vector<HostRanks> read_hostfile(const std::filesystem::path& path);

// The name without the user before it.
std::string_view bare_name(std::string_view name);

// `localhost`, or what this host calls itself: its ranks are started without ssh.
bool is_this_host(std::string_view name);

}  // namespace trireme::cluster::launch::hosts
