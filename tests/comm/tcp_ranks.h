// Ranks as threads of one process, connected over real TCP on loopback.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "trireme/cluster/store/local_store.h"
#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/engine.h"
#include "trireme/comm/group.h"
#include "trireme/comm/tcp/assemble.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm {

struct TcpRanks {
  int count = 2;
  MessageBackend::Options backend = {};
  int streams = 1;
  bool checksums = false;
  std::string host = "127.0.0.1";
};

inline void run_tcp_ranks(const TcpRanks& how, const std::function<void(const Group&)>& body) {
  cluster::LocalStore store;
  const net::Secret secret = net::Secret::generate();
  std::vector<int> members;
  for (int rank = 0; rank < how.count; ++rank) members.push_back(rank);
  testing::run_rank_threads(how.count, [&](int rank) {
    const auto credentials =
        std::make_shared<net::SecretCredentials>(secret, "rank " + std::to_string(rank));
    const auto mesh = tcp::assemble({.rank = rank,
                                     .size = how.count,
                                     .host = how.host,
                                     .streams = how.streams,
                                     .checksums = how.checksums},
                                    store, credentials, Deadline::after(std::chrono::seconds(20)));
    const auto engine = std::make_shared<Engine>(Engine::Options{});
    engine->add_source(mesh);
    const auto backend =
        std::make_shared<MessageBackend>(mesh, members, rank, 0x746370u, how.backend);
    const Group group(backend, engine, {.timeout = std::chrono::seconds(20)});
    guarded(group, [&] { body(group); });
    // Leaving sends a goodbye, which a rank that still waits would report as a loss.
    if (!group.error()) group.barrier().wait();
  });
}

}  // namespace trireme::comm
