#include "trireme/comm/connect_threads.h"

#include "trireme/base/check.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/engine.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/comm/spin.h"

namespace trireme::comm {

std::vector<Group> connect_threads(int ranks, const Group::Options& options, Faults* faults) {
  TRIREME_CHECK(ranks >= 1, "connecting ", ranks, " threads");
  const auto arena = Arena::create({.members = ranks});
  std::vector<shm::Lanes::Member> members;
  for (int rank = 0; rank < ranks; ++rank) members.push_back({rank, rank});
  constexpr std::uint64_t kKey = 0x74687265616473u;
  std::vector<Group> groups;
  for (int rank = 0; rank < ranks; ++rank) {
    auto engine = std::make_shared<Engine>(Engine::Options{.spin = spin_for(ranks)});
    engine->add_source(std::make_shared<shm::DoorbellSource>(arena, rank));
    auto backend = std::make_shared<shm::SharedBackend>(arena, members, rank, kKey, faults);
    groups.emplace_back(std::move(backend), std::move(engine), options);
  }
  return groups;
}

}  // namespace trireme::comm
