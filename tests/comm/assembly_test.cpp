// Goal:   the group of each epoch is built on shared memory: for the first epoch, for the survivors
//         of a death, for a worker that joins later, and for a single worker.
// Method: workers as threads of one process, each with its own assembly and one common store.

#include "trireme/comm/assembly.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <mutex>

#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store/local_store.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm {
namespace {

using cluster::membership::Epoch;
using cluster::membership::EpochMember;
using namespace std::chrono_literals;

Epoch epoch_of(std::uint64_t number, const std::vector<int>& workers) {
  std::vector<EpochMember> entries;
  for (const int worker : workers)
    entries.push_back(
        {.worker = worker, .place = worker == 4 ? 2 : worker, .about = {.rank = worker}});
  return Epoch(number, std::move(entries));
}

// Sanitizers have less address space.
constexpr Arena::Options kSmallArena{.members = 8, .segment_size = std::size_t{64} << 20};

double sum_over(const Group& group, double mine) {
  group.all_reduce({&mine, 1, DType::Float64}, ReduceOp::Sum).wait();
  return mine;
}

TEST(Assembly, GroupsOfSuccessiveEpochsUseOneArena) {
  cluster::LocalStore store;
  std::vector<std::unique_ptr<Assembly>> all;
  for (int worker = 0; worker < 5; ++worker) {
    all.push_back(std::make_unique<Assembly>(
        Assembly::Options{.worker = worker, .store = &store, .arena = kSmallArena}));
  }
  const auto in_epoch = [&](const Epoch& epoch, const std::set<int>& having,
                            const std::function<void(int, const Group&)>& body) {
    testing::run_rank_threads(epoch.size(), [&](int rank) {
      const int worker = epoch.member(rank).worker;
      const Group group =
          all[static_cast<std::size_t>(worker)]->group_of(epoch, having, Deadline::after(10s));
      EXPECT_EQ(group.rank(), rank);
      EXPECT_EQ(group.epoch(), epoch.number());
      body(worker, group);
    });
  };
  std::optional<Group> never_given_back;
  in_epoch(epoch_of(1, {0, 1, 2, 3}), {}, [&](int worker, const Group& group) {
    EXPECT_EQ(sum_over(group, worker), 6);
    group.barrier().wait();
    if (worker == 2) {
      never_given_back = group;
      return;
    }
    // The survivors wait for a worker that never arrives.
    std::optional<ErrorCode> code;
    std::thread death([&] { all[static_cast<std::size_t>(worker)]->lose(2, "it was killed"); });
    try {
      group.barrier().wait();
    } catch (const Error& error) {
      code = error.code();
    }
    death.join();
    EXPECT_EQ(code, ErrorCode::PeerLost);
  });
  in_epoch(epoch_of(2, {0, 1, 3}), {0, 1, 3},
           [&](int worker, const Group& group) { EXPECT_EQ(sum_over(group, worker), 4); });
  // The dead worker never released its part of the first group.
  const auto arena = all[0]->group_of(epoch_of(9, {0}), {0}, Deadline::after(1s)).arena();
  const std::size_t held = arena->usage(Deadline::after(1s)).bytes;
  all[0]->forget(2);
  EXPECT_LT(arena->usage(Deadline::after(1s)).bytes, held);
  in_epoch(epoch_of(3, {0, 1, 3, 4}), {0, 1, 3}, [&](int worker, const Group& group) {
    EXPECT_EQ(sum_over(group, worker), 8);
    EXPECT_NE(group.arena(), nullptr);
  });
  in_epoch(epoch_of(4, {3}), {3}, [&](int, const Group& group) {
    EXPECT_EQ(group.size(), 1);
    EXPECT_NE(group.arena(), nullptr) << "a worker that continues alone keeps the shared memory";
  });
}

// Workers 0 and 1 on one host, 2 and 3 on another.
Epoch spread_epoch(std::uint64_t number, const std::vector<int>& workers) {
  std::vector<EpochMember> entries;
  for (const int worker : workers) {
    entries.push_back({.worker = worker,
                       .place = worker % 2,
                       .about = {.rank = worker, .host = worker < 2 ? "a" : "b"}});
  }
  return Epoch(number, std::move(entries));
}

TEST(Assembly, GroupsOfSuccessiveEpochsSpanSeveralHosts) {
  cluster::LocalStore store;
  const auto secret = std::make_shared<net::SecretCredentials>(net::Secret::generate(), "worker");
  std::vector<std::unique_ptr<Assembly>> all;
  for (int worker = 0; worker < 4; ++worker) {
    all.push_back(std::make_unique<Assembly>(Assembly::Options{.worker = worker,
                                                               .store = &store,
                                                               .arena = kSmallArena,
                                                               .is_spread = true,
                                                               .credentials = secret}));
  }
  const auto in_epoch = [&](const Epoch& epoch, const std::set<int>& having,
                            const std::function<void(int, const Group&)>& body) {
    testing::run_rank_threads(epoch.size(), [&](int rank) {
      const int worker = epoch.member(rank).worker;
      body(worker,
           all[static_cast<std::size_t>(worker)]->group_of(epoch, having, Deadline::after(20s)));
    });
  };
  in_epoch(spread_epoch(1, {0, 1, 2}), {}, [&](int worker, const Group& group) {
    EXPECT_EQ(sum_over(group, worker), 3);
    group.barrier().wait();
    if (worker == 2) return;
    std::optional<ErrorCode> code;
    std::thread death([&] { all[static_cast<std::size_t>(worker)]->lose(2, "it was killed"); });
    try {
      group.barrier().wait();
    } catch (const Error& error) {
      code = error.code();
    }
    death.join();
    EXPECT_EQ(code, ErrorCode::PeerLost);
    // After a loss, groups without the lost worker end as well, because other ranks have stopped by
    // then.
    EXPECT_THROW(group.subgroup(std::vector<int>{0, 1}).barrier().wait(), Error);
  });
  // All on one host, then one per host, then two and two, with one that was never there before.
  in_epoch(spread_epoch(2, {1, 0}), {0, 1},
           [&](int worker, const Group& group) { EXPECT_EQ(sum_over(group, worker), 1); });
  in_epoch(spread_epoch(3, {1, 3}), {1},
           [&](int worker, const Group& group) { EXPECT_EQ(sum_over(group, worker), 4); });
  in_epoch(spread_epoch(4, {3, 0, 1}), {0, 1, 3},
           [&](int worker, const Group& group) { EXPECT_EQ(sum_over(group, worker), 4); });
  in_epoch(spread_epoch(5, {3}), {3}, [&](int, const Group& group) { EXPECT_EQ(group.size(), 1); });
}

// Memory of the arena of this worker's host in bytes, as reported by the kernel.
std::size_t memory_of(const Group& group) {
  const std::vector<int> alone{group.rank()};
  struct stat status{};
  EXPECT_EQ(::fstat(group.subgroup(alone).arena()->proof().descriptor, &status), 0);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

// In every epoch one worker of the first host dies and never releases its groups: one of all
// workers, one of its host and one of both hosts. Another worker replaces it. Covers groups on one
// host and on several.
TEST(Assembly, SharedMemoryDoesNotGrowWithDeaths) {
  constexpr int kDeaths = 4;
  cluster::LocalStore store;
  const auto secret = std::make_shared<net::SecretCredentials>(net::Secret::generate(), "worker");
  for (const bool is_spread : {false, true}) {
    SCOPED_TRACE(is_spread ? "spread" : "one host");
    const int offset = is_spread ? 100 : 0;
    std::map<int, std::unique_ptr<Assembly>> all;
    for (int worker = offset; worker < offset + 3 + kDeaths; ++worker) {
      all[worker] = std::make_unique<Assembly>(Assembly::Options{.worker = worker,
                                                                 .store = &store,
                                                                 .arena = kSmallArena,
                                                                 .is_spread = is_spread,
                                                                 .credentials = secret});
    }
    std::vector<Group> of_the_dead;
    std::mutex mutex;
    std::size_t after_one = 0, after_all = 0;
    for (int death = 0; death <= kDeaths; ++death) {
      const auto number = static_cast<std::uint64_t>(death + 1);
      const int dying = offset + 2 + death;
      std::vector<EpochMember> entries;
      std::set<int> having;
      for (const int worker : {offset, offset + 1, dying}) {
        const bool is_far = is_spread && worker == offset + 1;
        entries.push_back({.worker = worker,
                           .place = worker == dying ? 2 : worker - offset,
                           .about = {.rank = worker, .host = is_far ? "b" : "a"}});
        if (death > 0 && worker != dying) having.insert(worker);
      }
      const Epoch epoch(number, std::move(entries));
      testing::run_rank_threads(3, [&](int rank) {
        const int worker = epoch.member(rank).worker;
        const Group group = all[worker]->group_of(epoch, having, Deadline::after(20s));
        all[worker]->forget(number - 1);
        const auto work = [](const Group& in) {
          std::vector<float> data(50'000, 1.0f);  // ordinary memory is copied through windows
          in.all_reduce(span(data), ReduceOp::Sum).wait();
          return in;
        };
        std::vector<Group> held{work(group), work(group.duplicate())};
        if (rank != 1) held.push_back(work(group.subgroup(std::vector<int>{0, 2})));
        if (rank == 0 && death == 1) after_one = memory_of(group);
        if (rank == 0) after_all = memory_of(group);
        group.barrier().wait();
        if (worker != dying) return;
        const std::lock_guard lock(mutex);
        of_the_dead.insert(of_the_dead.end(), held.begin(), held.end());
      });
    }
    EXPECT_EQ(after_all, after_one);
  }
}

TEST(Assembly, ADeathWhileHostsConnectEndsTheWait) {
  cluster::LocalStore store;
  const auto secret = std::make_shared<net::SecretCredentials>(net::Secret::generate(), "worker");
  for (const int me : {0, 2}) {
    Assembly alone({.worker = me,
                    .store = &store,
                    .arena = kSmallArena,
                    .is_spread = true,
                    .credentials = secret});
    std::thread death([&] {
      std::this_thread::sleep_for(30ms);
      alone.lose(2 - me, "it died");
    });
    std::optional<ErrorCode> code;
    try {
      alone.group_of(spread_epoch(1 + static_cast<std::uint64_t>(me), {0, 2}), {},
                     Deadline::after(30s));
    } catch (const Error& error) {
      code = error.code();
    }
    death.join();
    EXPECT_EQ(code, ErrorCode::PeerLost) << "worker " << me;
  }
}

// One worker waits for memory, the others for connections; none of them is notified of a death.
TEST(Assembly, AWorkerInAnOutdatedEpochDoesNotWait) {
  const auto secret = std::make_shared<net::SecretCredentials>(net::Secret::generate(), "worker");
  for (const int me : {0, 1, 2}) {
    cluster::LocalStore store;
    Assembly alone({.worker = me,
                    .store = &store,
                    .arena = kSmallArena,
                    .is_spread = true,
                    .credentials = secret});
    std::thread others([&] {
      std::this_thread::sleep_for(30ms);
      store.set(cluster::membership::epoch_key(2), {}, Deadline::after(1s));
    });
    std::optional<ErrorCode> code;
    try {
      alone.group_of(spread_epoch(1, {0, 1, 2}), {}, Deadline::after(30s));
    } catch (const Error& error) {
      code = error.code();
    }
    others.join();
    EXPECT_EQ(code, ErrorCode::PeerLost) << "worker " << me;
  }
}

// The worker that created the arena dies after one of two has opened it, and it is not known which.
TEST(Assembly, MemoryOfAnIncompleteEpochIsNotReused) {
  for (const bool is_spread : {false, true}) {
    SCOPED_TRACE(is_spread ? "spread" : "one host");
    cluster::LocalStore store;
    const auto secret = std::make_shared<net::SecretCredentials>(net::Secret::generate(), "worker");
    const auto assembly_of = [&](int worker) {
      return std::make_unique<Assembly>(Assembly::Options{.worker = worker,
                                                          .store = &store,
                                                          .operation_timeout = 5s,
                                                          .arena = kSmallArena,
                                                          .is_spread = is_spread,
                                                          .credentials = secret});
    };
    std::vector<std::unique_ptr<Assembly>> all;
    for (int worker = 0; worker < 3; ++worker) all.push_back(assembly_of(worker));
    testing::run_rank_threads(2, [&](int rank) {
      all[static_cast<std::size_t>(2 * rank)]->group_of(epoch_of(1, {0, 1, 2}), {},
                                                        Deadline::after(10s));
    });
    for (const int worker : {1, 2}) all[static_cast<std::size_t>(worker)]->lose(0, "it died");
    testing::run_rank_threads(2, [&](int rank) {
      const Group group = all[static_cast<std::size_t>(rank + 1)]->group_of(epoch_of(2, {1, 2}), {},
                                                                            Deadline::after(10s));
      EXPECT_EQ(sum_over(group, rank + 1), 3);
    });
  }
}

// A proof stays in the store after its worker has died and before any worker is notified of the
// death.
TEST(Assembly, AJoiningWorkerOpensTheArenaThroughASurvivor) {
  const auto leave_proof = [](cluster::Store& store) {
    const auto arena = Arena::create(kSmallArena);
    ByteWriter out;
    arena->proof().write(out);
    store.set("arena/0", out.bytes(), Deadline::after(1s));
  };
  cluster::LocalStore store;
  Assembly first({.worker = 1, .store = &store, .arena = kSmallArena});
  first.group_of(epoch_of(1, {1}), {}, Deadline::after(10s));
  leave_proof(store);
  Assembly newcomer({.worker = 3, .store = &store, .arena = kSmallArena});
  EXPECT_NO_THROW(newcomer.group_of(epoch_of(2, {0, 1, 3}), {0, 1}, Deadline::after(10s)));

  // No other worker has the arena: either the death is reported, or there was none.
  const auto code_of_joining = [&](bool is_told) {
    Assembly late({.worker = 3, .store = &store, .arena = kSmallArena});
    std::thread news([&] {
      std::this_thread::sleep_for(30ms);
      if (is_told) late.lose(0, "it died");
    });
    std::optional<ErrorCode> code;
    try {
      late.group_of(epoch_of(2, {0, 3}), {0}, Deadline::after(10s));
    } catch (const Error& error) {
      code = error.code();
    }
    news.join();
    return code;
  };
  EXPECT_EQ(code_of_joining(true), ErrorCode::PeerLost);
  EXPECT_EQ(code_of_joining(false), ErrorCode::Unsupported);
}

TEST(Assembly, WaitingForTheArenaEndsAtTheDeadlineOrAtALoss) {
  cluster::LocalStore store;
  Assembly late({.worker = 1, .store = &store});
  try {
    late.group_of(epoch_of(1, {0, 1}), {}, Deadline::after(20ms));
    ADD_FAILURE() << "returned although no worker created an arena";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
  }
  late.lose(0, "it died");
  try {
    late.group_of(epoch_of(1, {0, 1}), {}, Deadline::after(10s));
    ADD_FAILURE() << "returned although the creator of the arena is dead";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::PeerLost);
  }
}

}  // namespace
}  // namespace trireme::comm
