// Placement says which ranks hold a model together. The ranks of a host cut the shards among
// themselves; ranks of other hosts that hold the same shard are its replicas.
//
// Elastic jobs compute a new Placement for every membership epoch (of_epoch); other jobs have one
// for their whole life.
//
// Thread safety: a value.

#pragma once

#include <vector>

#include "trireme/comm/group.h"
#include "trireme/mesh/mesh.h"

namespace trireme::parallel::data {

struct Placement {
  comm::Group all = comm::Group::solo();     // one rank of each data-parallel replica
  comm::Group host = comm::Group::solo();    // the ranks among which shards are cut
  comm::Group across = comm::Group::solo();  // the ranks that hold this rank's shard, one per host
  int replicas = 1;                          // of every shard
  // Of elastic jobs:
  std::vector<int> host_ranks{};        // by rank of `host`: its rank in `all`
  std::vector<int> places{};            // by rank of `host`: its place in the host's arena
  std::vector<int> host_leaders = {0};  // by host: its first rank in `all`
  int host_index = 0;                   // this rank's host
  bool is_uneven = false;  // hosts have different numbers of ranks, so `across` is this rank alone

  // The shards are cut among all ranks.
  static Placement flat(const comm::Group& all) { return {.all = all, .host = all}; }
  // The shards are cut within hosts that have the same number of ranks (Mesh::of_hosts).
  static Placement in_hosts(const mesh::Mesh& hosts);
  // `places` by rank of `all`. `is_per_host`: every host holds all shards; otherwise the shards are
  // cut among all ranks.
  static Placement of_epoch(const comm::Group& all, const std::vector<int>& places,
                            bool is_per_host);

  bool has_other_hosts() const noexcept { return replicas > 1; }
  // Of this rank's shard; the others hold replicas of it.
  bool is_first_holder() const noexcept { return host_index == 0 && across.rank() == 0; }
  int own_place() const { return places.at(static_cast<std::size_t>(host.rank())); }
};

}  // namespace trireme::parallel::data
