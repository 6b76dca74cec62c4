// Ranks as threads of one process on simulated hosts: shared memory within a host, real TCP over
// loopback between hosts. A rank that continues alone on its host keeps the memory of its host.

#pragma once

#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "trireme/cluster/store/local_store.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/engine.h"
#include "trireme/comm/group.h"
#include "trireme/comm/hierarchy/wiring.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/comm/spin.h"
#include "trireme/comm/tcp/assemble.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm {

// `hosts` is by rank, with any numbers. A rank's member number in the arena of its host is its
// rank.
inline std::vector<Group> connect_hosts(const std::vector<int>& hosts) {
  const int size = static_cast<int>(hosts.size());
  std::map<int, std::shared_ptr<Arena>> arenas;
  std::map<int, int> firsts;
  hierarchy::Wiring all;
  for (int rank = 0; rank < size; ++rank) {
    const int host = hosts[static_cast<std::size_t>(rank)];
    if (firsts.emplace(host, rank).second) arenas[host] = Arena::create({.members = size});
    all.host_of.push_back(firsts.at(host));
  }
  all.places.resize(hosts.size());
  std::iota(all.places.begin(), all.places.end(), 0);
  all.messages = {.name = "tcp"};
  cluster::LocalStore store;
  const net::Secret secret = net::Secret::generate();
  std::vector<Group> groups(hosts.size(), Group::solo());
  testing::run_rank_threads(size, [&](int rank) {
    const auto credentials =
        std::make_shared<net::SecretCredentials>(secret, "rank " + std::to_string(rank));
    hierarchy::Wiring wiring = all;
    wiring.rank = rank;
    wiring.arena = arenas.at(hosts[static_cast<std::size_t>(rank)]);
    const auto mesh = tcp::assemble({.rank = rank, .size = size, .host = "127.0.0.1"}, store,
                                    credentials, Deadline::after(std::chrono::seconds(20)));
    wiring.messenger = mesh;
    const auto engine = std::make_shared<Engine>(Engine::Options{.spin = spin_for(size)});
    engine->add_source(mesh);
    engine->add_source(std::make_shared<shm::DoorbellSource>(wiring.arena, rank));
    groups[static_cast<std::size_t>(rank)] =
        Group(hierarchy::make_backend(wiring, 0x686f737473u), engine,
              {.timeout = std::chrono::seconds(30), .home = wiring.arena, .home_member = rank});
  });
  return groups;
}

}  // namespace trireme::comm
