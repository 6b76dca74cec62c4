// Goal:   a store in etcd survives a restart of etcd, a compaction, and the loss of an etcd member
//         or of its lease; and calls end before their deadline if etcd does not return.
// Method: real servers, killed and restarted; a lease that the test revokes.

#include "trireme/cluster/store/etcd/etcd_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/etcd/etcd_kind.h"
#include "trireme/base/error.h"
#include "trireme/cluster/store/etcd/client.h"
#include "trireme/cluster/store/etcd/message.h"
#include "trireme/cluster/store/etcd/session.h"
#include "trireme/cluster/store/etcd/watch.h"
#include "trireme/testing/code_of.h"
#include "trireme/testing/etcd_server.h"

namespace trireme::cluster::etcd {
namespace {

using namespace std::chrono_literals;
using testing::code_of;
using testing::EtcdServer;

Deadline soon() {
  return Deadline::after(20s);
}

class EtcdStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdServer::program()) GTEST_SKIP() << EtcdServer::kMissing;
  }
  EtcdKind kind;
};

TEST_F(EtcdStoreTest, KeysAreTheJobsAndCanBeRemoved) {
  const auto mine = kind.open();
  const auto other = EtcdKind().open();
  mine->set("k", bytes_of("mine"), soon());
  other->set("k", bytes_of("other"), soon());
  EtcdClient client({.members = kind.place().members});
  const auto all = [&] {
    return read_range(client.call(kRangePath, range_request(Keys::with_prefix(kind.place().root())),
                                  soon()))
        .items;
  };
  ASSERT_EQ(all().size(), 2u) << "the key and the marker of the call that set it";
  EXPECT_EQ(all()[1].key, kind.place().root() + "keys/k");
  remove_job(kind.place(), soon());
  EXPECT_TRUE(all().empty());
  EXPECT_EQ(mine->get("k", soon()), std::nullopt);
  EXPECT_EQ(other->get("k", soon()), to_bytes("other"));
  mine->set("k", bytes_of("again"), soon());
  EXPECT_EQ(mine->get("k", soon()), to_bytes("again")) << "though its marker was removed";
}

TEST_F(EtcdStoreTest, ALostLeaseIsReplacedAndItsKeysComeBack) {
  EtcdStore store({.place = kind.place()}, soon());
  const auto other = kind.open();
  store.set("set", bytes_of("1"), soon(), Lifetime::Session);
  ASSERT_TRUE(store.compare_and_set("free", {}, bytes_of("1"), soon(), Lifetime::Session).swapped);
  ASSERT_TRUE(store.compare_and_set("taken", {}, bytes_of("1"), soon(), Lifetime::Session).swapped);
  const auto watch = other->watch("taken", soon());
  EXPECT_EQ(watch->next(soon()).value, to_bytes("1"));
  const std::uint64_t lease = store.lease();
  EtcdClient client({.members = kind.place().members});
  client.call(kRevokePath, lease_request(lease), soon());
  EXPECT_EQ(watch->next(soon()).value, std::nullopt);
  other->set("taken", bytes_of("theirs"), soon());
  store.set("job", bytes_of("1"), soon());
  EXPECT_NE(store.lease(), lease);
  EXPECT_EQ(other->wait("set", soon()), to_bytes("1"));
  EXPECT_EQ(other->wait("free", soon()), to_bytes("1"));
  EXPECT_EQ(other->get("taken", soon()), to_bytes("theirs"));
}

TEST_F(EtcdStoreTest, ARestartIsAPause) {
  EtcdServer server;
  EtcdStore store({.place = server.place("job")}, soon());
  const auto watch = store.watch("w/", soon());
  store.set("w/1", bytes_of("1"), soon(), Lifetime::Session);
  EXPECT_EQ(watch->next(soon()).key, "w/1");
  const std::uint64_t lease = store.lease();
  server.kill();
  EXPECT_EQ(code_of([&] { store.get("w/1", Deadline::after(30ms)); }), ErrorCode::Deadline);
  auto adding = std::async(std::launch::async, [&] { return store.add("n", 1, soon()); });
  server.start();
  EXPECT_EQ(adding.get(), 1);
  EXPECT_EQ(store.get("w/1", soon()), to_bytes("1"));
  EXPECT_EQ(store.lease(), lease) << "no lease runs out while etcd is down";
  store.set("w/2", bytes_of("2"), soon());
  EXPECT_EQ(watch->next(soon()).key, "w/2") << "and nothing is told twice";
}

TEST_F(EtcdStoreTest, PatienceEnds) {
  EtcdServer server;
  EtcdStore store({.place = server.place("job"), .patience = 200ms}, soon());
  server.kill();
  EXPECT_EQ(code_of([&] { store.get("k", soon()); }), ErrorCode::PeerLost);
  EXPECT_EQ(code_of([&] { store.set("k", {}, soon()); }), ErrorCode::PeerLost);
}

TEST_F(EtcdStoreTest, AnotherMemberIsAsked) {
  EtcdPlace place = kind.place();
  // No server listens at the first address.
  place.members.insert(place.members.begin(), net::Address::tcp("127.0.0.1", 1));
  EtcdStore store({.place = place}, soon());
  store.set("k", bytes_of("v"), soon());
  EXPECT_EQ(kind.open()->get("k", soon()), to_bytes("v"));
}

TEST_F(EtcdStoreTest, ACompactionIsNamedAndTheWatchBeginsAgain) {
  EtcdServer server;
  EtcdStore store({.place = server.place("job")}, soon());
  store.set("w/gone", bytes_of("1"), soon());
  store.set("w/stays", bytes_of("1"), soon());
  // The watch lists the keys now and follows changes only when next() is called.
  const auto watch = store.watch("w/", soon());
  for (const char* value : {"2", "3"}) store.set("w/stays", bytes_of(value), soon());
  store.erase("w/gone", soon());
  server.compact();
  EXPECT_EQ(watch->next(soon()).key, "w/gone");
  EXPECT_EQ(watch->next(soon()).value, to_bytes("1"));
  try {
    watch->next(soon());
    FAIL() << "two changes were lost";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Exhausted);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("compacted"));
  }
  const StoreChange gone = watch->next(soon());
  EXPECT_EQ(gone.key, "w/gone");
  EXPECT_EQ(gone.value, std::nullopt);
  EXPECT_EQ(watch->next(soon()).value, to_bytes("3"));
  store.set("w/new", {}, soon());
  EXPECT_EQ(watch->next(soon()).key, "w/new");
}

}  // namespace
}  // namespace trireme::cluster::etcd
