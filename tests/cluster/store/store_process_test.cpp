// Goal:   the session's keys of a process are erased when it is killed, and a process that is
// killed
//         while it writes to a shared folder does no harm.
// Method: real processes on a FolderStore and a RemoteStore, killed by the test.

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "tests/cluster/store_kinds.h"
#include "trireme/base/error.h"
#include "trireme/testing/rank_processes.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using trireme::testing::RankChannel;
using trireme::testing::RankProcesses;

Deadline soon() {
  return Deadline::after(30s);
}

std::unique_ptr<Store> open_from_environment() {
  if (const char* folder = std::getenv("TEST_FOLDER")) {
    return std::make_unique<FolderStore>(FolderStore::Options{.folder = folder}, soon());
  }
  const net::SecretCredentials credentials(net::Secret::from_hex(std::getenv("TEST_SECRET")),
                                           "rank");
  return std::make_unique<RemoteStore>(
      net::Client::Options{.address = net::Address::parse(std::getenv("TEST_ADDRESS")),
                           .credentials = &credentials},
      soon());
}

// Claims one session-bound key, sets another one, and waits to be killed.
void hold_and_wait(RankChannel& channel) {
  const std::unique_ptr<Store> store = open_from_environment();
  store->compare_and_set("claimed", std::nullopt, ByteView{}, soon(), Lifetime::Session);
  store->set("mine", {}, soon(), Lifetime::Session);
  store->set("job", {}, soon());
  channel.say("held");
  channel.hear();
}

void expect_erased_by_kill(RankProcesses& ranks, Store& store) {
  ASSERT_EQ(ranks.hear(0, soon()), "held");
  EXPECT_TRUE(store.get("mine", soon()));
  ranks.kill(0, SIGKILL);
  const std::unique_ptr<Watch> watch = store.watch("", soon());
  while (store.get("claimed", soon()) || store.get("mine", soon())) watch->next(soon());
  EXPECT_TRUE(store.get("job", soon())) << "keys of the job are kept";
}

TEST(StoreProcess, KillErasesTheSessionsKeysInAFolder) {
  RankProcesses::run_if_child(hold_and_wait);
  const TemporaryFolder folder("store-test");
  const std::string path = folder.path() / "store";
  RankProcesses ranks({.count = 1, .environment = {{"TEST_FOLDER", path}}}, hold_and_wait);
  FolderStore store({.folder = path}, soon());
  expect_erased_by_kill(ranks, store);
}

TEST(StoreProcess, KillErasesTheSessionsKeysAtAServer) {
  RankProcesses::run_if_child(hold_and_wait);
  RemoteKind kind;
  RankProcesses ranks({.count = 1,
                       .environment = {{"TEST_ADDRESS", kind.server().address().to_text()},
                                       {"TEST_SECRET", kind.secret().to_hex()}}},
                      hold_and_wait);
  const std::unique_ptr<Store> store = kind.open();
  expect_erased_by_kill(ranks, *store);
}

// Adds to two counters in turn, as fast as it can, until it is killed.
void add_for_ever(RankChannel& channel) {
  FolderStore store({.folder = std::getenv("TEST_FOLDER")}, soon());
  channel.say("adding");
  for (;;) {
    store.add("a", 1, soon());
    store.add("b", 1, soon());
  }
}

TEST(StoreProcess, AKillDuringAWriteDoesNotDamageTheStore) {
  RankProcesses::run_if_child(add_for_ever);
  const TemporaryFolder folder("store-test");
  const std::string path = folder.path() / "store";
  std::int64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    RankProcesses ranks({.count = 2, .environment = {{"TEST_FOLDER", path}}}, add_for_ever);
    ranks.hear_all(soon());
    FolderStore store({.folder = path}, soon());
    while (store.add("a", 0, soon()) < last + 20) ASSERT_FALSE(HasFailure());
    ranks.kill(0, SIGKILL);
    ranks.kill(1, SIGKILL);
    ranks.wait_exit(0, soon());
    ranks.wait_exit(1, soon());
    const std::int64_t a = store.add("a", 0, soon());
    const std::int64_t b = store.add("b", 0, soon());
    EXPECT_GE(a, last + 20);
    EXPECT_LE(std::abs(a - b), 2 * (round + 1)) << "each writer is at most one ahead";
    last = a;
  }
}

}  // namespace
}  // namespace trireme::cluster
