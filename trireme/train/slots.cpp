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

std::vector<int> redeal_slots(std::span<const int> owners, std::span<const std::optional<int>> now,
                              int ranks) {
  TRIREME_CHECK(ranks > 0, "slots for nobody");
  std::vector<int> dealt;
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  for (const int owner : owners) {
    const std::optional<int> heir = now[static_cast<std::size_t>(owner)];
    dealt.push_back(heir.value_or(-1));
    if (heir) ++counts[static_cast<std::size_t>(*heir)];
  }
  for (int& owner : dealt) {
    if (owner >= 0) continue;
    const auto idlest = std::min_element(counts.begin(), counts.end());
    ++*idlest;
    owner = static_cast<int>(idlest - counts.begin());
  }
  return dealt;
}

}  // namespace trireme::train
