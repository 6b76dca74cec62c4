#include "trireme/train/slots.h"

#include <algorithm>

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

std::vector<int> slots_of(int rank, std::span<const int> owners) {
  std::vector<int> mine;
  for (std::size_t slot = 0; slot < owners.size(); ++slot) {
    if (owners[slot] == rank) mine.push_back(static_cast<int>(slot));
  }
  return mine;
}

std::vector<int> cut_slots(std::span<const int> owners, int pieces) {
  std::vector<int> cut;
  for (const int owner : owners) cut.insert(cut.end(), static_cast<std::size_t>(pieces), owner);
  return cut;
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
