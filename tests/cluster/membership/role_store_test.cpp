// Goal:   each role has its own epochs: a change in one role is not noticed in another one.
// Method: workers and servers as threads, each with its own session of one LocalStore.

#include "trireme/cluster/membership/role_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "trireme/cluster/membership/membership.h"
#include "trireme/cluster/store/local_store.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

Deadline soon() {
  return Deadline::after(30s);
}

struct Process {
  Process(const LocalStore& whole, Role role, int number)
      : store(whole.open_session()),
        membership({.worker = number, .first_size = 2, .role = role, .store = store.get()}) {
    membership.on_gone([this](const WorkerEnd&) {
      ++deaths;
      deaths.notify_all();
    });
  }

  std::atomic<int> deaths = 0;
  std::unique_ptr<LocalStore> store;
  Membership membership;
};

class RoleStoreTest : public ::testing::Test {
 protected:
  RoleStoreTest() {
    std::vector<std::future<void>> joins;
    for (const Role role : {Role::Worker, Role::Server}) {
      for (const int number : {0, 1}) {
        all.push_back(std::make_unique<Process>(whole, role, number));
        joins.push_back(std::async(std::launch::async, [process = all.back().get()] {
          process->membership.join(soon());
        }));
      }
    }
    for (std::future<void>& join : joins) join.get();
  }

  LocalStore whole;
  std::vector<std::unique_ptr<Process>> all;  // workers 0 and 1, servers 0 and 1
};

TEST_F(RoleStoreTest, AnEpochListsTheMembersOfOneRole) {
  for (std::size_t i = 0; i < 4; ++i) {
    const Epoch& epoch = all[i]->membership.epoch();
    ASSERT_EQ(epoch.size(), 2);
    for (const EpochMember& entry : epoch.members()) {
      EXPECT_EQ(entry.about.role, i < 2 ? Role::Worker : Role::Server);
    }
  }
}

TEST_F(RoleStoreTest, AServerThatLeavesEndsNoEpochOfWorkers) {
  all.pop_back();
  // Until then server 0 may decide an epoch in which it still expects the other one.
  all[2]->deaths.wait(0);
  const Next servers = all[2]->membership.next({}, {}, soon());
  EXPECT_EQ(servers.epoch.number(), 2u);
  EXPECT_EQ(servers.epoch.size(), 1);
  for (const int worker : {0, 1}) {
    const Process& process = *all[static_cast<std::size_t>(worker)];
    EXPECT_EQ(process.deaths, 0);
    EXPECT_FALSE(process.membership.is_change_wanted());
    EXPECT_EQ(process.membership.epoch().number(), 1u);
  }
  EXPECT_EQ(all[0]->store->get("epoch/2", soon()), std::nullopt);
  EXPECT_EQ(all[2]->deaths, 1);
}

TEST(RoleStoreKeys, AreFoundUnderTheirOwnNames) {
  LocalStore whole;
  RoleStore workers(whole, Role::Worker);
  RoleStore servers(whole, Role::Server);
  const std::unique_ptr<Watch> watch = servers.watch("k/", soon());
  servers.set("k/a", bytes_of("1"), soon());
  workers.set("k/b", bytes_of("2"), soon());
  EXPECT_EQ(watch->next(soon()).key, "k/a");
  EXPECT_EQ(servers.get("k/b", soon()), std::nullopt);
  std::vector<std::string> keys;
  for (const StoreChange& entry : servers.list("k/", soon())) keys.push_back(entry.key);
  EXPECT_THAT(keys, ElementsAre("k/a"));
  EXPECT_EQ(whole.get("server/k/a", soon()), to_bytes("1"));
  EXPECT_EQ(whole.get("k/b", soon()), to_bytes("2"));
}

}  // namespace
}  // namespace trireme::cluster::membership
