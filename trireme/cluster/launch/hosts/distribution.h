// How the workers of an elastic job are distributed over its hosts.
//
// Rule:          each host gets a share of the wanted workers, in proportion to its number of ranks
//                in the host list. The share of an unreachable host is reserved for it and not
//                given to other hosts. The share of a host that was given up is distributed to the
//                others.
// Thread safety: pure functions.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace trireme::cluster::launch::hosts {

struct HostCapacity {
  int ranks = 1;   // from the host list
  int living = 0;  // number of live workers on it
  bool is_up = true;
  bool is_given_up = false;
};

// Each host's share, in the order of the list.
std::vector<int> distribute(int wanted, const std::vector<HostCapacity>& capacities);

// The number of wanted workers whose hosts are reachable now.
int room_for(int wanted, const std::vector<HostCapacity>& capacities);

// The host for the next worker: the first reachable host that has fewer workers than its share or,
// if there is none, the one with the fewest workers per rank. nullopt: no host is reachable.
std::optional<std::size_t> next_host(int wanted, const std::vector<HostCapacity>& capacities);

}  // namespace trireme::cluster::launch::hosts
