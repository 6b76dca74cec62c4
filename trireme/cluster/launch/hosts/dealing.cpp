#include "trireme/cluster/launch/hosts/dealing.h"

namespace trireme::cluster::launch::hosts {
namespace {

// Whether a workers on a_ranks ranks are a lighter load than b on b_ranks; a tie is not.
bool is_lighter(int a, int a_ranks, int b, int b_ranks) {
  return static_cast<long>(a) * b_ranks < static_cast<long>(b) * a_ranks;
}

}  // namespace

std::vector<int> deal(int wanted, const std::vector<Berth>& berths) {
  std::vector<int> parts(berths.size(), 0);
  for (int i = 0; i < wanted; ++i) {
    std::optional<std::size_t> best;
    for (std::size_t j = 0; j < berths.size(); ++j) {
      if (berths[j].is_given_up) continue;
      if (!best ||
          is_lighter(parts[j] + 1, berths[j].ranks, parts[*best] + 1, berths[*best].ranks)) {
        best = j;
      }
    }
    if (!best) break;
    ++parts[*best];
  }
  return parts;
}

int room_for(int wanted, const std::vector<Berth>& berths) {
  const std::vector<int> parts = deal(wanted, berths);
  int room = 0;
  for (std::size_t i = 0; i < berths.size(); ++i) room += berths[i].is_up ? parts[i] : 0;
  return room;
}

std::optional<std::size_t> next_berth(int wanted, const std::vector<Berth>& berths) {
  const std::vector<int> parts = deal(wanted, berths);
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < berths.size(); ++i) {
    const Berth& berth = berths[i];
    if (!berth.is_up || berth.is_given_up) continue;
    if (berth.living < parts[i]) return i;
    if (!best || is_lighter(berth.living, berth.ranks, berths[*best].living, berths[*best].ranks)) {
      best = i;
    }
  }
  return best;
}

}  // namespace trireme::cluster::launch::hosts
