// Ranks as threads in a mesh of two axes, "data" 2 x "tensor" 2: two data-parallel replicas of two
// ranks each.

#pragma once

#include <functional>

#include "trireme/comm/connect_threads.h"
#include "trireme/mesh/mesh.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::mesh {

inline constexpr int kMeshRanks = 4;

inline void run_mesh_threads(const std::function<void(const Mesh&)>& body) {
  const auto groups = comm::connect_threads(kMeshRanks, {.timeout = std::chrono::seconds(60)});
  testing::run_rank_threads(kMeshRanks, [&](int rank) {
    const comm::Group& all = groups[static_cast<std::size_t>(rank)];
    body(Mesh(all, {{"data", 2}, {"tensor", 2}}));
    all.barrier().wait();
  });
}

}  // namespace trireme::mesh
