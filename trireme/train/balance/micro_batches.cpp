#include "trireme/train/balance/micro_batches.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "trireme/base/check.h"

namespace trireme::train {

std::vector<int> assign_micro_batches(int micro_batches, int replicas) {
  std::vector<int> owners;
  for (int replica = 0; replica < replicas; ++replica) {
    const int count = (replica + 1) * micro_batches / replicas - replica * micro_batches / replicas;
    owners.insert(owners.end(), static_cast<std::size_t>(count), replica);
  }
  return owners;
}

std::vector<int> assign_micro_batches(int micro_batches, std::span<const double> shares) {
  TRIREME_CHECK(micro_batches >= std::ssize(shares), micro_batches, " micro-batches for ",
                shares.size(), " replicas");
  std::vector<int> counts(shares.size(), 1);
  // Assigns one micro-batch after the other to the replica that is furthest below its share.
  for (int assigned = static_cast<int>(shares.size()); assigned < micro_batches; ++assigned) {
    std::size_t poorest = 0;
    for (std::size_t replica = 1; replica < shares.size(); ++replica) {
      const auto lack = [&](std::size_t r) { return shares[r] * micro_batches - counts[r]; };
      if (lack(replica) > lack(poorest)) poorest = replica;
    }
    ++counts[poorest];
  }
  std::vector<int> owners;
  for (std::size_t replica = 0; replica < counts.size(); ++replica) {
    owners.insert(owners.end(), static_cast<std::size_t>(counts[replica]),
                  static_cast<int>(replica));
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
    const auto replica = static_cast<std::size_t>(owner);
    const double weight = kWhole * shares[replica] / static_cast<double>(counts[replica]);
    weights.push_back(std::max<std::int64_t>(1, std::llround(weight)));
  }
  return weights;
}

std::vector<int> micro_batches_of(int replica, std::span<const int> owners) {
  std::vector<int> mine;
  for (std::size_t micro_batch = 0; micro_batch < owners.size(); ++micro_batch) {
    if (owners[micro_batch] == replica) mine.push_back(static_cast<int>(micro_batch));
  }
  return mine;
}

std::vector<int> reassign_micro_batches(std::span<const int> owners, std::span<const int> before,
                                        std::span<const int> now) {
  TRIREME_CHECK(!now.empty(), "no replica is left to run micro-batches");
  constexpr int kNoReplica = -1;
  std::vector<int> assigned;
  std::vector<int> counts(now.size());
  for (const int owner : owners) {
    const auto at = std::find(now.begin(), now.end(), before[static_cast<std::size_t>(owner)]);
    assigned.push_back(at == now.end() ? kNoReplica : static_cast<int>(at - now.begin()));
    if (at != now.end()) ++counts[static_cast<std::size_t>(at - now.begin())];
  }
  for (int& owner : assigned) {
    if (owner != kNoReplica) continue;
    const auto idlest = std::min_element(counts.begin(), counts.end());
    ++*idlest;
    owner = static_cast<int>(idlest - counts.begin());
  }
  return assigned;
}

}  // namespace trireme::train
