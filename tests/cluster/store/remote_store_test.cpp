// Goal:   properties of a networked store only: a server that ends, bounds on calls, one
//         connection.
// Method: a real server and real connections on loopback; the contract itself is in
//         store_conformance_test.cpp.

#include "trireme/cluster/store/remote_store.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/cluster/store_kinds.h"
#include "trireme/base/error.h"
#include "trireme/cluster/store/store_service.h"
#include "trireme/testing/code_of.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;
using testing::code_of;

Deadline soon() {
  return Deadline::after(20s);
}

TEST(RemoteStore, WaitsAndLaterCallsFailAfterTheServerIsLost) {
  StoreServer kind;
  const std::unique_ptr<Store> store = kind.open();
  const std::unique_ptr<Store> other = kind.open();
  auto waiting = std::async(std::launch::async,
                            [&] { return code_of([&] { store->wait("never", soon()); }); });
  other->set("k", {}, soon());
  kind.crash();
  EXPECT_EQ(waiting.get(), ErrorCode::PeerLost);
  EXPECT_EQ(code_of([&] { store->get("k", soon()); }), ErrorCode::PeerLost);
  EXPECT_EQ(code_of([&] { other->get("k", soon()); }), ErrorCode::PeerLost);
}

TEST(RemoteStore, AStoreUsesOneConnection) {
  StoreServer kind;
  const std::unique_ptr<Store> store = kind.open();
  std::vector<std::future<Bytes>> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(std::async(std::launch::async, [&] { return store->wait("k", soon()); }));
  }
  const std::unique_ptr<Watch> watch = store->watch("", soon());
  store->set("k", bytes_of("v"), soon());
  for (std::future<Bytes>& value : waiting) value.get();
  EXPECT_EQ(watch->next(soon()).key, "k");
  EXPECT_EQ(kind.server().counters().sessions_accepted, 1u);
}

TEST(RemoteStore, CallsBeyondTheLimitWaitForASlot) {
  StoreServer kind;
  const std::unique_ptr<Store> store = kind.open();
  constexpr int kCalls = 300;  // the bound is 256
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int i = 0; i < kCalls; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(store->wait("k", soon()), to_bytes("v"));
      ++answered;
    });
  }
  const std::unique_ptr<Store> other = kind.open();
  other->set("k", bytes_of("v"), soon());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, kCalls);
}

TEST(StoreService, AnswersMalformedRequestsWithAnErrorAndContinues) {
  StoreServer kind;
  const net::SecretCredentials credentials(kind.secret(), "fuzzer");
  net::Client client({.address = kind.server().address(), .credentials = &credentials}, soon());
  EXPECT_EQ(code_of([&] { client.call(kStoreMethod, bytes_of("nonsense"), soon()); }),
            ErrorCode::Protocol);
  EXPECT_EQ(code_of([&] { client.call(kStoreMethod + 1, {}, soon()); }), ErrorCode::Unsupported);
  StoreRequest request;
  request.slot = 60000;
  const StoreReply reply = decode_store_reply(client.call(kStoreMethod, encode(request), soon()));
  EXPECT_EQ(reply.error, ErrorCode::Protocol);
  EXPECT_EQ(kind.open()->get("k", soon()), std::nullopt);
}

}  // namespace
}  // namespace trireme::cluster
