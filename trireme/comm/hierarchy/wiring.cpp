#include "trireme/comm/hierarchy/wiring.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "trireme/comm/hierarchy/backend.h"
#include "trireme/comm/shm/backend.h"

namespace trireme::comm::hierarchy {
namespace {

int index_of(int rank, const std::vector<int>& ranks) {
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

}  // namespace

std::shared_ptr<Backend> make_backend(const Wiring& wiring, std::uint64_t key) {
  HierarchicalBackend::Parts parts;
  parts.host_of = wiring.host_of;
  parts.inside = [wiring](const std::vector<int>& ranks, std::uint64_t group) {
    std::vector<shm::Lanes::Member> members;
    for (const int rank : ranks) {
      members.push_back({wiring.places[static_cast<std::size_t>(rank)], rank});
    }
    return std::make_shared<shm::SharedBackend>(wiring.arena, members, index_of(wiring.rank, ranks),
                                                group, wiring.messages.faults, wiring.epoch);
  };
  parts.across = [wiring](const std::vector<int>& ranks, std::uint64_t group) {
    return std::make_shared<MessageBackend>(wiring.messenger, ranks, index_of(wiring.rank, ranks),
                                            group, wiring.messages);
  };
  std::vector<int> everybody(wiring.host_of.size());
  std::iota(everybody.begin(), everybody.end(), 0);
  return make_backend(parts, std::move(everybody), wiring.rank, key);
}

}  // namespace trireme::comm::hierarchy
