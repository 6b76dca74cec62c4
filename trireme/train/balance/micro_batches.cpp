#include "trireme/train/balance/micro_batches.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "trireme/base/check.h"

namespace trireme::train {

std::vector<int> assign_micro_batches(int micro_batches, int ranks) {
  std::vector<int> owners;
  for (int rank = 0; rank < ranks; ++rank) {
    const int count = (rank + 1) * micro_batches / ranks - rank * micro_batches / ranks;
    owners.insert(owners.end(), static_cast<std::size_t>(count), rank);
  }
  return owners;
}

std::vector<int> assign_micro_batches(int micro_batches, std::span<const double> shares) {
  TRIREME_CHECK(micro_batches >= std::ssize(shares), micro_batches, " micro-batches for ",
                shares.size(), " ranks");
  std::vector<int> counts(shares.size(), 1);
  // Assigns one micro-batch after the other to the rank that is furthest below its share.
  for (int assigned = static_cast<int>(shares.size()); assigned < micro_batches; ++assigned) {
    std::size_t poorest = 0;
    for (std::size_t rank = 1; rank < shares.size(); ++rank) {
      const auto lack = [&](std::size_t r) { return shares[r] * micro_batches - counts[r]; };
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

std::vector<std::int64_t> micro_batch_weights(std::span<const int> owners,
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

std::vector<int> micro_batches_of(int rank, std::span<const int> owners) {
  std::vector<int> mine;
  for (std::size_t micro_batch = 0; micro_batch < owners.size(); ++micro_batch) {
    if (owners[micro_batch] == rank) mine.push_back(static_cast<int>(micro_batch));
  }
  return mine;
}

std::vector<int> reassign_micro_batches(std::span<const int> owners, std::span<const int> before,
                                        std::span<const int> now) {
  TRIREME_CHECK(!now.empty(), "no rank is left to run micro-batches");
  constexpr int kNoRank = -1;
  std::vector<int> assigned;
  std::vector<int> counts(now.size());
  for (const int owner : owners) {
    const auto at = std::find(now.begin(), now.end(), before[static_cast<std::size_t>(owner)]);
    assigned.push_back(at == now.end() ? kNoRank : static_cast<int>(at - now.begin()));
    if (at != now.end()) ++counts[static_cast<std::size_t>(at - now.begin())];
  }
  for (int& owner : assigned) {
    if (owner != kNoRank) continue;
    const auto idlest = std::min_element(counts.begin(), counts.end());
    ++*idlest;
    owner = static_cast<int>(idlest - counts.begin());
  }
  return assigned;
}

}  // namespace trireme::train
