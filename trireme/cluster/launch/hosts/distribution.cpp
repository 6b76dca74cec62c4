#include "trireme/cluster/launch/hosts/distribution.h"

namespace trireme::cluster::launch::hosts {
namespace {

// Whether a workers on a_ranks ranks are a lighter load than b on b_ranks; a tie is not.
bool is_lighter(int a, int a_ranks, int b, int b_ranks) {
  return static_cast<long>(a) * b_ranks < static_cast<long>(b) * a_ranks;
}

}  // namespace

std::vector<int> distribute(int wanted, const std::vector<HostCapacity>& capacities) {
  int ranks = 0;
  for (const HostCapacity& capacity : capacities)
    ranks += capacity.is_given_up ? 0 : capacity.ranks;
  std::vector<int> parts(capacities.size(), 0);
  if (ranks == 0) return parts;
  // As many workers as the list has ranks fill every host exactly, in however many rounds.
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!capacities[i].is_given_up) parts[i] = wanted / ranks * capacities[i].ranks;
  }
  for (int i = 0; i < wanted % ranks; ++i) {
    std::optional<std::size_t> best;
    for (std::size_t j = 0; j < capacities.size(); ++j) {
      if (capacities[j].is_given_up) continue;
      if (!best || is_lighter(parts[j] + 1, capacities[j].ranks, parts[*best] + 1,
                              capacities[*best].ranks)) {
        best = j;
      }
    }
    if (!best) break;
    ++parts[*best];
  }
  return parts;
}

int room_for(int wanted, const std::vector<HostCapacity>& capacities) {
  const std::vector<int> parts = distribute(wanted, capacities);
  int room = 0;
  for (std::size_t i = 0; i < capacities.size(); ++i) room += capacities[i].is_up ? parts[i] : 0;
  return room;
}

std::optional<std::size_t> next_host(int wanted, const std::vector<HostCapacity>& capacities) {
  const std::vector<int> parts = distribute(wanted, capacities);
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    const HostCapacity& capacity = capacities[i];
    if (!capacity.is_up || capacity.is_given_up) continue;
    if (capacity.living < parts[i]) return i;
    if (!best || is_lighter(capacity.living, capacity.ranks, capacities[*best].living,
                            capacities[*best].ranks)) {
      best = i;
    }
  }
  return best;
}

}  // namespace trireme::cluster::launch::hosts
