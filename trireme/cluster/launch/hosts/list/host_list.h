// The hosts that a job's ranks run on, in the format of the command line and of host files.
//
//   --hosts node1:4,user@node2:4,[fd00::7]:2     a host without a number has one rank
//   --hostfile FILE                              one line per host: node1:4, or node1 slots=4, as
//                                                in Open MPI; # begins a comment
//
// Ranks are assigned in the order of the list: the first host has the first ranks.
//
// Errors:        InvalidInput with the word and, for a file, the line.
// Thread safety: pure, except for reading the file and this host's name.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::cluster::launch::hosts {

inline constexpr int kRanksMax = 4096;

struct HostRanks {
  std::string name;  // in ssh's format: node1, user@node1, fd00::7
  int ranks = 1;

  friend bool operator==(const HostRanks&, const HostRanks&) = default;
};

std::vector<HostRanks> parse_hosts(std::string_view text);
std::vector<HostRanks> read_hostfile(const std::filesystem::path& path);

// The name without the user.
std::string_view bare_name(std::string_view name);

// `localhost`, or this host's own name: its ranks are started without ssh.
bool is_this_host(std::string_view name);

}  // namespace trireme::cluster::launch::hosts
