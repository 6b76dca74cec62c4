// The pairs of ranks that average their weights in a round of gossip. They are drawn at random for
// every round; if the number of ranks is odd, one rank has no partner.
//
// All ranks compute the same pairs from the seed, without communication.
//
// Thread safety: a pure function.

#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "trireme/base/random.h"

namespace trireme::parallel::local {

struct Round {
  std::uint64_t seed = 0;
  std::int64_t number = 0;
};

// By rank: its partner, or the rank itself if it has none.
inline std::vector<int> partners_of(int ranks, const Round& round) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  Random random(round.seed, static_cast<std::uint64_t>(round.number));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<int> partners(order.size());
  for (std::size_t i = 0; i < order.size(); i += 2) {
    const std::size_t other = i + 1 < order.size() ? i + 1 : i;
    partners[static_cast<std::size_t>(order[i])] = order[other];
    partners[static_cast<std::size_t>(order[other])] = order[i];
  }
  return partners;
}

}  // namespace trireme::parallel::local
