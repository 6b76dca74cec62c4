// Goal:   a World joins according to the environment, and leaves nothing behind.
// Method: ranks as threads with artificial environments of each launcher. Real processes join in
//         world_process_test.cpp.

#include "trireme/cluster/world.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/cluster/fake_environment.h"
#include "tests/cluster/store_server.h"
#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/store/job_store.h"
#include "trireme/net/auth/secret.h"
#include "trireme/net/listener.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using Map = std::map<std::string, std::string>;

// Runs `body` as every rank of a job, each on a thread with its own environment.
void run_ranks(int size, const std::function<Map(int rank)>& environment,
               const std::function<void(World&)>& body) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      try {
        World world = World::join(
            {.lookup = fake_environment(environment(rank)), .timeout = 30s, .job_hash = "h"});
        EXPECT_EQ(world.rank(), rank);
        EXPECT_EQ(world.size(), size);
        body(world);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST(World, AJobWithOneRankNeedsNoStore) {
  World world = World::join({.lookup = fake_environment({})});
  EXPECT_EQ(world.rank(), 0);
  EXPECT_EQ(world.size(), 1);
  EXPECT_EQ(world.local_rank(), 0);
  EXPECT_EQ(world.local_size(), 1);
  EXPECT_EQ(world.roster().member(0).pid, ::getpid());
  EXPECT_GT(world.roster().member(0).cores, 0);
  EXPECT_EQ(world.store().add("n", 1, Deadline::after(5s)), 1);
  EXPECT_EQ(world.launcher(), Launcher::None);
}

TEST(World, MeetsInTheStoreOfItsJob) {
  const StoreServer store;
  run_ranks(
      3,
      [&](int rank) {
        return store.variables({{"TRIREME_RANK", std::to_string(rank)},
                                {"TRIREME_SIZE", "3"},
                                {"TRIREME_JOB", "a/b"}});
      },
      [](World& world) {
        EXPECT_EQ(world.job(), "a/b");
        EXPECT_EQ(world.local_rank(), world.rank());
        EXPECT_EQ(world.local_size(), 3);
        world.store().add("n", 1, Deadline::after(5s));
      });
}

TEST(World, UnderMpirunRankZeroServesTheStoreAndCreatesTheSecret) {
  const TemporaryFolder runtime("world-test");
  run_ranks(
      4,
      [&](int rank) {
        return Map{{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                   {"OMPI_COMM_WORLD_SIZE", "4"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(rank)},
                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                   {"PMIX_NAMESPACE", "n"},
                   {"XDG_RUNTIME_DIR", runtime.path().string()}};
      },
      [](World& world) {
        // Late ranks still reach the store, although rank 0 has nothing more to do.
        world.store().add("n", 1, Deadline::after(20s));
        if (world.rank() == 3) {
          while (world.store().add("n", 0, Deadline::after(20s)) < 4) std::this_thread::yield();
        }
      });
  EXPECT_TRUE(std::filesystem::is_empty(runtime.path() / "trireme-ranks"))
      << "files of the job remain";
}

TEST(World, ATcpStoreRequiresTheSecret) {
  const Map variables{{"TRIREME_RANK", "0"},
                      {"TRIREME_SIZE", "1"},
                      {"TRIREME_STORE", "tcp://127.0.0.1:0"},
                      {"TRIREME_STORE_RANK", "0"}};
  try {
    World::join({.lookup = fake_environment(variables)});
    ADD_FAILURE() << "joined without a secret";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("TRIREME_SECRET_FILE"));
  }
  Map with_secret = variables;
  with_secret["TRIREME_SECRET"] = net::Secret::generate().to_hex();
  World world = World::join({.lookup = fake_environment(with_secret)});
  EXPECT_EQ(world.store().add("n", 2, Deadline::after(5s)), 2);
}

TEST(World, MeetsOverIpv6) {
  std::uint16_t port = 0;
  try {
    port = net::Listener(net::Address::tcp("::1", 0)).address().port;
  } catch (const Error& error) {
    GTEST_SKIP() << "NO IPv6 HERE, NOT TESTED: " << error.what();
  }
  const std::string secret = net::Secret::generate().to_hex();
  run_ranks(
      3,
      [&](int rank) {
        return Map{{"TRIREME_RANK", std::to_string(rank)},
                   {"TRIREME_SIZE", "3"},
                   {"TRIREME_STORE", "tcp://[::1]:" + std::to_string(port)},
                   {"TRIREME_STORE_RANK", "0"},
                   {"TRIREME_SECRET", secret}};
      },
      [](World& world) {
        // Rank 0 serves until it leaves.
        world.store().add("n", 1, Deadline::after(20s));
        while (world.store().add("n", 0, Deadline::after(20s)) < 3) std::this_thread::yield();
      });
}

// Rank 0 serves the store; the ranks do not match, and every rank must learn that, even one that
// comes late.
TEST(World, LateRanksLearnThatTheMeetingFailed) {
  const TemporaryFolder runtime("world-test");
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      const Map variables{{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                          {"OMPI_COMM_WORLD_SIZE", "3"},
                          {"PMIX_NAMESPACE", "n"},
                          {"XDG_RUNTIME_DIR", runtime.path().string()}};
      if (rank == 2) std::this_thread::sleep_for(500ms);
      try {
        World::join({.lookup = fake_environment(variables),
                     .timeout = 20s,
                     .leave_timeout = 10s,
                     .job_hash = rank == 1 ? "other" : "h"});
        ADD_FAILURE() << "met";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Mismatch) << rank << ": " << error.what();
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

// All ranks share memory, so no rank watches the store; the store's end must not be reported as a
// death.
TEST(World, ARankThatLeftInOrderIsNotReportedWhenItsStoreEnds) {
  const TemporaryFolder runtime("world-test");
  std::atomic<int> deaths{0};
  std::atomic<bool> has_left{false};
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      const Map variables{{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                          {"OMPI_COMM_WORLD_SIZE", "2"},
                          {"PMIX_NAMESPACE", "n"},
                          {"XDG_RUNTIME_DIR", runtime.path().string()}};
      {
        World world = World::join({.lookup = fake_environment(variables),
                                   .timeout = 20s,
                                   .leave_timeout = 200ms,
                                   .heartbeat = {.interval = 50ms, .timeout = 5s}});
        world.on_death([&](const Death&) { ++deaths; });
        const Deadline patience = Deadline::after(20s);
        while (rank == 1 && !has_left && !patience.is_past()) std::this_thread::sleep_for(10ms);
        if (rank == 1) std::this_thread::sleep_for(500ms);  // several heartbeats without a store
      }
      if (rank == 0) has_left = true;
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(deaths, 0);
}

TEST(World, NamesTheRanksThatDidNotCome) {
  const StoreServer store;
  const Map variables = store.variables({{"TRIREME_RANK", "0"}, {"TRIREME_SIZE", "3"}});
  try {
    World::join({.lookup = fake_environment(variables), .timeout = 200ms});
    ADD_FAILURE() << "joined without ranks 1 and 2";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("ranks 1, 2 of 3 did not come within "));
  }
}

}  // namespace
}  // namespace trireme::cluster
