// Goal:   a coordinator that is killed, between calls and during them, loses no change that it
//         confirmed; a second one takes over from the first, even if the first is frozen.
// Method: real coordinator processes in a job's folder of this test, and ReconnectingStores.

#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "tests/process/job_fixture.h"
#include "trireme/cluster/launch/elastic/store_link.h"
#include "trireme/cluster/launch/job/coordinator.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/root.h"
#include "trireme/cluster/launch/rendezvous/coordinator_process.h"
#include "trireme/cluster/store/reconnecting_store.h"
#include "trireme/net/auth/secret_credentials.h"

namespace trireme {
namespace {

using cluster::Lifetime;
using cluster::ReconnectingStore;
namespace launch = cluster::launch;

class CoordinatorTest : public JobTest {
 protected:
  CoordinatorTest()
      : folder_(launch::job::Folder::create(launch::job::own_root(), "demo")),
        coordinator_({.folder = folder_.path(), .orphan_timeout = 60s, .program = program()}) {
    coordinator_.start();
  }
  void TearDown() override {
    kill_now();
    folder_.remove();
    JobTest::TearDown();
  }

  std::unique_ptr<ReconnectingStore> open() {
    auto credentials =
        std::make_shared<net::SecretCredentials>(net::Secret::from_file(folder_.secret()), "rank");
    const auto address = net::Address::unix_socket((folder_.path() / "store.sock").string());
    return std::make_unique<ReconnectingStore>(
        ReconnectingStore::Options{.address = address, .credentials = std::move(credentials)},
        soon());
  }
  void kill_now() {
    if (coordinator_.pid() <= 1) return;
    kill_one(coordinator_.pid(), SIGKILL);
    reap(coordinator_.pid());
    coordinator_.forget();
  }
  static int reap(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  }

  launch::job::Folder folder_;
  launch::CoordinatorProcess coordinator_;
};

TEST_F(CoordinatorTest, ConfirmedChangesSurviveKillsDuringCalls) {
  constexpr int kKills = 10;
  std::atomic<bool> is_over = false;
  std::int64_t calls = 0;
  std::vector<std::string> won;
  std::thread caller([&] {
    const auto store = open();
    for (; !is_over; ++calls) {
      store->add("n", 1, soon());
      const std::string key = "epoch/" + std::to_string(calls);
      const auto mine = std::to_string(calls);
      if (store->compare_and_set(key, {}, bytes_of(mine), soon()).swapped) won.push_back(key);
    }
  });
  const auto store = open();
  store->set("mine", bytes_of("here"), soon(), Lifetime::Session);
  const auto other = open();
  for (int i = 0; i < kKills; ++i) {
    other->wait("epoch/" + std::to_string(20 * i), soon());
    kill_now();
    coordinator_.start();
    EXPECT_EQ(other->wait("mine", soon()), to_bytes("here")) << "its owner restored the key";
  }
  is_over = true;
  caller.join();
  EXPECT_EQ(won.size(), static_cast<std::size_t>(calls)) << "each proposal was the only one";
  for (const std::string& key : won) EXPECT_TRUE(store->get(key, soon())) << key;
  const std::int64_t sum = store->add("n", 0, soon());
  EXPECT_GE(sum, calls);
  EXPECT_LE(sum, calls + kKills) << "at most one call per kill was repeated";
}

TEST_F(CoordinatorTest, ASecondCoordinatorTakesOverFromAFrozenOne) {
  for (const bool is_frozen : {false, true}) {
    const auto store = open();
    store->set("k", bytes_of(is_frozen ? "2" : "1"), soon());
    const pid_t first = coordinator_.pid();
    if (is_frozen) kill_one(first, SIGSTOP);
    coordinator_.start();
    EXPECT_EQ(reap(first), SIGKILL) << "the first was seen dead";
    EXPECT_EQ(store->get("k", soon()), to_bytes(is_frozen ? "2" : "1"));
    EXPECT_EQ(launch::job::coordinator_of(folder_.path()), coordinator_.pid());
  }
}

TEST_F(CoordinatorTest, AFrozenCoordinatorIsDetectedAndKilled) {
  open()->set("k", bytes_of("1"), soon());
  const launch::StoreLink link({.folder = folder_.path(), .silence_max = 1s});
  kill_one(coordinator_.pid(), SIGSTOP);
  EXPECT_EQ(reap(coordinator_.pid()), SIGKILL);
  coordinator_.forget();
}

TEST_F(CoordinatorTest, AResetErasesAllKeys) {
  const auto store = open();
  store->set("k", bytes_of("1"), soon());
  const pid_t first = coordinator_.pid();
  coordinator_.reset();
  EXPECT_EQ(reap(first), SIGKILL);
  coordinator_.start();
  EXPECT_EQ(store->get("k", soon()), std::nullopt);
}

TEST_F(CoordinatorTest, EndsWithTheJobsFolder) {
  open()->set("k", bytes_of("1"), soon());
  folder_.remove();
  const int status = reap(coordinator_.pid());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  coordinator_.forget();
}

}  // namespace
}  // namespace trireme
