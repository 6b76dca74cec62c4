// How the workers of an elastic job are dealt over its hosts.
//
// Meaning: each host has its part of those that are wanted, in proportion to the ranks that the
//          list of hosts gives it; the part of a host that is out of reach waits for it, and is
//          nobody else's. Of a host that was given up others take over the part.
// Threads: pure.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace trireme::cluster::launch::hosts {

struct Berth {
  int ranks = 1;   // as the list of hosts says
  int living = 0;  // workers that it has
  bool is_up = true;
  bool is_given_up = false;
};

// Each host's part, in the order of the list.
std::vector<int> deal(int wanted, const std::vector<Berth>& berths);

// How many of those that are wanted can be there now.
int room_for(int wanted, const std::vector<Berth>& berths);

// Where the next one goes: the first host within reach that has fewer than its part, or, where
// none has, the one that has the fewest for its ranks. Nothing: no host is within reach.
std::optional<std::size_t> next_berth(int wanted, const std::vector<Berth>& berths);

}  // namespace trireme::cluster::launch::hosts
