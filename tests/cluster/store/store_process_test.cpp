// Goal:   the session's keys of a process are erased when it is killed.
// Method: a real process, killed by the test.

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "tests/cluster/store_server.h"
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
  const net::SecretCredentials credentials(net::Secret::from_hex(std::getenv("TRIREME_SECRET")),
                                           "rank");
  return std::make_unique<RemoteStore>(
      net::Client::Options{.address = net::Address::parse(std::getenv("TRIREME_STORE")),
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

TEST(StoreProcess, KillErasesTheSessionsKeys) {
  RankProcesses::run_if_child(hold_and_wait);
  StoreServer server;
  RankProcesses ranks({.count = 1, .environment = server.variables({})}, hold_and_wait);
  const std::unique_ptr<Store> store = server.open();
  ASSERT_EQ(ranks.hear(0, soon()), "held");
  EXPECT_TRUE(store->get("mine", soon()));
  ranks.kill(0, SIGKILL);
  const std::unique_ptr<Watch> watch = store->watch("", soon());
  while (store->get("claimed", soon()) || store->get("mine", soon())) watch->next(soon());
  EXPECT_TRUE(store->get("job", soon())) << "keys of the job are kept";
}

}  // namespace
}  // namespace trireme::cluster
