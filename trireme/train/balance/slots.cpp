#include "trireme/train/balance/slots.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "trireme/base/check.h"

namespace trireme::train {

std::vector<int> deal_slots(int slots, int ranks) {
  std::vector<int> owners;
  for (int rank = 0; rank < ranks; ++rank) {
    const int count = (rank + 1) * slots / ranks - rank * slots / ranks;
    owners.insert(owners.end(), static_cast<std::size_t>(count), rank);
  }
  return owners;
}

std::vector<int> deal_slots(int slots, std::span<const double> shares) {
  TRIREME_CHECK(slots >= std::ssize(shares), slots, " slots for ", shares.size(), " ranks");
  std::vector<int> counts(shares.size(), 1);
  // One by one to whoever is furthest below its share.
  for (int dealt = static_cast<int>(shares.size()); dealt < slots; ++dealt) {
    std::size_t poorest = 0;
    for (std::size_t rank = 1; rank < shares.size(); ++rank) {
      const auto lack = [&](std::size_t r) { return shares[r] * slots - counts[r]; };
      if (lack(rank) > lack(poorest)) poorest = rank;
    }
    ++counts[poorest];
  }
  std::vector<int> owners;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    owners.insert(owners.end(), static_cast<std::size_t>(counts[rank]), static_cast<int>(rank));
  }
  return owners;
}

std::vector<std::int64_t> slot_weights(std::span<const int> owners,
                                       std::span<const double> shares) {
  constexpr double kWhole = 1 << 20;
  std::vector<std::int64_t> counts(shares.size());
  for (const int owner : owners) ++counts[static_cast<std::size_t>(owner)];
  std::vector<std::int64_t> weights;
  for (const int owner : owners) {
    const auto rank = static_cast<std::size_t>(owner);
    const double weight = kWhole * shares[rank] / static_cast<double>(counts[rank]);
    weights.push_back(std::max<std::int64_t>(1, std::llround(weight)));
  }
  return weights;
}

std::vector<int> slots_of(int rank, std::span<const int> owners) {
  std::vector<int> mine;
  for (std::size_t slot = 0; slot < owners.size(); ++slot) {
    if (owners[slot] == rank) mine.push_back(static_cast<int>(slot));
  }
  return mine;
}

std::vector<int> redeal_slots(std::span<const int> owners, std::span<const int> before,
                              std::span<const int> now) {
  TRIREME_CHECK(!now.empty(), "slots for nobody");
  constexpr int kNobody = -1;
  std::vector<int> dealt;
  std::vector<int> counts(now.size());
  for (const int owner : owners) {
    const auto at = std::find(now.begin(), now.end(), before[static_cast<std::size_t>(owner)]);
    dealt.push_back(at == now.end() ? kNobody : static_cast<int>(at - now.begin()));
    if (at != now.end()) ++counts[static_cast<std::size_t>(at - now.begin())];
  }
  for (int& owner : dealt) {
    if (owner != kNobody) continue;
    const auto idlest = std::min_element(counts.begin(), counts.end());
    ++*idlest;
    owner = static_cast<int>(idlest - counts.begin());
  }
  return dealt;
}

}  // namespace trireme::train
