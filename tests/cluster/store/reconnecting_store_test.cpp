// Goal:   calls, session keys and watches survive the death of the store's server, within bounds.
// Method: a server with a log that is destroyed and created again at the same address.

#include "trireme/cluster/store/reconnecting_store.h"

#include <gtest/gtest.h>

#include <future>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/store/store_log.h"
#include "trireme/cluster/store/store_service.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/server.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

Deadline soon() {
  return Deadline::after(20s);
}

class ReconnectingStoreTest : public ::testing::Test {
 protected:
  ReconnectingStoreTest() { start(); }

  void start() {
    log_ = std::make_unique<StoreLog>(folder_.path() / "log");
    auto service = std::make_shared<StoreService>(StoreBounds{}, log_->journal());
    log_->replay([&](const StoreMap::Change& change) { service->learn(change); });
    service->advance(log_->first_revision());
    net::Server::Options options;
    options.address = address_;
    options.credentials = std::make_shared<net::SecretCredentials>(secret_, "server");
    server_ = std::make_unique<net::Server>(
        std::move(options), net::Server::Services{{kStoreServiceNumber, std::move(service)}});
  }
  void crash() {
    server_.reset();
    log_.reset();
  }
  std::unique_ptr<ReconnectingStore> open(Duration patience = 20s) {
    auto credentials = std::make_shared<net::SecretCredentials>(secret_, "rank");
    return std::make_unique<ReconnectingStore>(
        ReconnectingStore::Options{
            .address = address_, .credentials = std::move(credentials), .patience = patience},
        soon());
  }

  const net::Secret secret_ = net::Secret::generate();
  TemporaryFolder folder_{"lasting-test"};
  const net::Address address_ = net::Address::unix_socket((folder_.path() / "s").string());
  std::unique_ptr<StoreLog> log_;
  std::unique_ptr<net::Server> server_;
};

TEST_F(ReconnectingStoreTest, JobKeysAndSessionKeysSurviveARestart) {
  const auto a = open();
  const auto b = open();
  a->set("job", bytes_of("stays"), soon());
  a->set("mine", bytes_of("1"), soon(), Lifetime::Session);
  EXPECT_TRUE(a->compare_and_set("lock", {}, bytes_of("a"), soon(), Lifetime::Session).swapped);
  EXPECT_EQ(b->add("n", 5, soon()), 5);
  const std::uint64_t before = b->list("mine", soon()).front().revision;
  crash();
  start();
  EXPECT_EQ(b->get("job", soon()), to_bytes("stays"));
  EXPECT_EQ(b->add("n", 1, soon()), 6);
  // The test makes no call on a; its own thread reconnects.
  EXPECT_EQ(b->wait("mine", soon()), to_bytes("1"));
  EXPECT_EQ(b->wait("lock", soon()), to_bytes("a"));
  EXPECT_GT(b->list("mine", soon()).front().revision, before)
      << "revisions increase across restarts";
}

TEST_F(ReconnectingStoreTest, AKeyThatAnotherSessionTookDuringTheOutageIsNotRestored) {
  auto a = open();
  EXPECT_TRUE(a->compare_and_set("lock", {}, bytes_of("a"), soon(), Lifetime::Session).swapped);
  crash();
  start();
  const auto b = open();
  const bool is_ours = b->compare_and_set("lock", {}, bytes_of("b"), soon()).swapped;
  EXPECT_EQ(a->get("lock", soon()), to_bytes(is_ours ? "b" : "a"));
  a.reset();
  EXPECT_EQ(b->get("lock", soon()), is_ours ? std::optional(to_bytes("b")) : std::nullopt);
}

TEST_F(ReconnectingStoreTest, CallsInFlightWaitForTheServer) {
  const auto a = open();
  const auto b = open();
  auto waiting = std::async(std::launch::async, [&] { return a->wait("k", soon()); });
  crash();
  auto setting = std::async(std::launch::async, [&] { b->set("k", bytes_of("v"), soon()); });
  EXPECT_EQ(setting.wait_for(50ms), std::future_status::timeout);
  start();
  setting.get();
  EXPECT_EQ(waiting.get(), to_bytes("v"));
}

TEST_F(ReconnectingStoreTest, AWatchReportsErasedAndExistingKeysAfterARestart) {
  const auto a = open();
  auto b = open();
  a->set("w/job", bytes_of("1"), soon());
  b->set("w/session", bytes_of("2"), soon(), Lifetime::Session);
  const auto watch = a->watch("w/", soon());
  EXPECT_EQ(watch->next(soon()).key, "w/job");
  EXPECT_EQ(watch->next(soon()).key, "w/session");
  crash();
  b.reset();
  start();
  const StoreChange gone = watch->next(soon());
  EXPECT_EQ(gone.key, "w/session");
  EXPECT_EQ(gone.value, std::nullopt);
  EXPECT_EQ(watch->next(soon()).key, "w/job") << "a watch begins with the existing keys";
  a->set("w/new", {}, soon());
  EXPECT_EQ(watch->next(soon()).key, "w/new");
}

TEST_F(ReconnectingStoreTest, CallsFailAfterTheReconnectTimeout) {
  const auto store = open(300ms);
  crash();
  const TimePoint begin = steady_clock().now();
  try {
    store->get("k", soon());
    ADD_FAILURE() << "the call returned although no server was running";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::PeerLost);
    // The number depends on how busy the machine is.
    EXPECT_NE(error.message().find("the coordinator has been gone for "), std::string::npos)
        << error.message();
  }
  EXPECT_GE(steady_clock().now() - begin, 200ms);
  EXPECT_THROW(store->get("k", soon()), Error);
  start();
  // A later call tries once, or finds that the store's own thread has reconnected.
  const Deadline deadline = soon();
  std::optional<std::string> failure = "";
  while (failure && !deadline.is_past()) {
    try {
      store->get("k", soon());
      failure.reset();
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  EXPECT_FALSE(failure) << *failure;
}

TEST_F(ReconnectingStoreTest, ACallEndsAtItsOwnDeadline) {
  const auto store = open();
  crash();
  try {
    store->set("k", {}, Deadline::after(100ms));
    ADD_FAILURE() << "the call returned although no server was running";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
  }
}

TEST_F(ReconnectingStoreTest, AddsAreCorrectAcrossManyCrashes) {
  const auto store = open();
  for (int i = 1; i <= 10; ++i) {
    EXPECT_EQ(store->add("n", 1, soon()), i);
    crash();
    start();
    const std::string key = "epoch/" + std::to_string(i);
    EXPECT_TRUE(store->compare_and_set(key, {}, bytes_of("x"), soon()).swapped);
    EXPECT_FALSE(store->compare_and_set(key, {}, bytes_of("y"), soon()).swapped);
  }
  EXPECT_EQ(store->list("epoch/", soon()).size(), 10u);
}

}  // namespace
}  // namespace trireme::cluster
