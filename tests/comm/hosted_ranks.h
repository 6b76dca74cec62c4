// Ranks as threads, each with its own World and on the simulated host that the test assigns.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/cluster/store_server.h"
#include "trireme/comm/connect.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm {

// `hosts` is by rank; ranks with an empty name are on the same host. `body` also receives the
// world, so that it can connect again.
inline void run_hosted_ranks(const std::vector<std::string>& hosts, Transport transport,
                             const std::function<void(cluster::World&, const Group&)>& body) {
  const auto time = std::chrono::seconds(20);
  const cluster::StoreServer store;
  const int size = static_cast<int>(hosts.size());
  testing::run_rank_threads(size, [&](int rank) {
    std::map<std::string, std::string> variables =
        store.variables({{"TRIREME_RANK", std::to_string(rank)},
                         {"TRIREME_SIZE", std::to_string(size)},
                         {"TRIREME_JOB", "hosted"}});
    const std::string& host = hosts[static_cast<std::size_t>(rank)];
    if (!host.empty()) variables["TRIREME_HOST"] = host;
    const auto lookup = [&](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
    cluster::World world = cluster::World::join({.lookup = lookup, .timeout = time});
    const Group group =
        connect(world, {.transport = transport, .timeout = time, .operation_timeout = time});
    guarded(group, [&] { body(world, group); });
    group.barrier().wait();
  });
}

}  // namespace trireme::comm
