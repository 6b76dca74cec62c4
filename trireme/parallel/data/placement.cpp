#include "trireme/parallel/data/placement.h"

#include <algorithm>

namespace trireme::parallel::data {
namespace {

// By host: its ranks, ascending.
std::vector<std::vector<int>> ranks_by_host(const std::vector<int>& host_of) {
  const int hosts = 1 + *std::max_element(host_of.begin(), host_of.end());
  std::vector<std::vector<int>> ranks(static_cast<std::size_t>(hosts));
  for (std::size_t rank = 0; rank < host_of.size(); ++rank) {
    ranks[static_cast<std::size_t>(host_of[rank])].push_back(static_cast<int>(rank));
  }
  return ranks;
}

}  // namespace

Placement Placement::in_hosts(const mesh::Mesh& hosts) {
  return {.all = hosts.all(),
          .host = hosts.group("inside"),
          .across = hosts.group("across"),
          .replicas = hosts.size("across")};
}

Placement Placement::of_epoch(const comm::Group& all, const std::vector<int>& places,
                              bool is_per_host) {
  const std::vector<int> host_of =
      is_per_host ? all.hosts() : std::vector<int>(static_cast<std::size_t>(all.size()));
  const std::vector<std::vector<int>> hosts = ranks_by_host(host_of);
  Placement result{.all = all, .host = all};
  result.host_index = host_of[static_cast<std::size_t>(all.rank())];
  result.host_ranks = hosts[static_cast<std::size_t>(result.host_index)];
  result.replicas = static_cast<int>(hosts.size());
  result.host_leaders.clear();
  for (const std::vector<int>& ranks : hosts) {
    result.host_leaders.push_back(ranks.front());
    result.is_uneven |= ranks.size() != result.host_ranks.size();
  }
  if (is_per_host) result.host = all.subgroup(result.host_ranks);
  if (hosts.size() > 1 && !result.is_uneven) {
    std::vector<int> same_shard;
    for (const std::vector<int>& ranks : hosts) {
      same_shard.push_back(ranks[static_cast<std::size_t>(result.host.rank())]);
    }
    result.across = all.subgroup(same_shard);
  }
  for (const int rank : result.host_ranks) {
    result.places.push_back(places[static_cast<std::size_t>(rank)]);
  }
  return result;
}

}  // namespace trireme::parallel::data
