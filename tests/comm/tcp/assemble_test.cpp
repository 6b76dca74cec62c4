// Goal:   ranks find and authenticate each other over TCP while unknown processes and members of
//         earlier epochs connect too; a rank that does not connect is named.
// Method: ranks as threads with an in-process store; unknown processes are raw sockets.

#include "trireme/comm/tcp/assemble.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/comm/tcp_ranks.h"
#include "tests/net/raw_peer.h"
#include "trireme/comm/tcp/mesh.h"
#include "trireme/comm/tcp/preface.h"
#include "trireme/net/listener.h"
#include "trireme/net/server.h"
#include "trireme/net/socket.h"

namespace trireme::comm::tcp {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<net::SecretCredentials> credentials(const net::Secret& secret) {
  return std::make_shared<net::SecretCredentials>(secret, "a rank");
}

TEST(Assemble, StrangersDoNotDelayTheRanks) {
  cluster::LocalStore store;
  const net::Secret secret = net::Secret::generate();
  std::atomic<int> knocks{0};
  // Opens half-open connections to rank 0 and sends garbage as fast as possible, until it stops
  // listening.
  std::thread stranger([&] {
    const Bytes where = store.wait("comm/tcp/0", Deadline::after(10s));
    const auto addresses = net::resolve(net::Address::parse(text_of(where)));
    std::vector<net::Socket> open;
    try {
      for (; knocks < 200; ++knocks) {
        open.push_back(net::connect(addresses.front(), Deadline::after(1s)));
        if (knocks % 2 == 0) net::send(open.back(), bytes_of("GET / HTTP/1.1\r\n\r\n"));
      }
    } catch (const Error&) {
      // All ranks are connected and no longer listen.
    }
  });
  testing::run_rank_threads(3, [&](int rank) {
    const Deadline strangers_first = Deadline::after(5s);
    while (rank == 2 && knocks < 20 && !strangers_first.is_past()) std::this_thread::yield();
    assemble({.rank = rank, .size = 3}, store, credentials(secret), Deadline::after(20s));
  });
  stranger.join();
  EXPECT_GE(knocks, 20);
}

class Lines : public LogSink {
 public:
  void write(LogLevel, std::string_view event, const Record& record) noexcept override {
    const std::lock_guard lock(mutex_);
    all_ += std::string(event) + " " + record.to_json() + "\n";
  }
  std::string all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::string all_;
};

// Rank 0 of epoch 7 waits for two connections of worker 5, which has rank 1.
TEST(Assemble, AMemberOfAnEarlierEpochDoesNotReplaceTheRightOne) {
  cluster::LocalStore store;
  const auto known = credentials(net::Secret::generate());
  const auto lines = std::make_shared<Lines>();
  std::shared_ptr<TcpMessenger> mesh;
  std::thread first([&] {
    mesh = assemble({.rank = 0,
                     .size = 2,
                     .streams = 2,
                     .epoch = 7,
                     .mesh = 3,
                     .workers = {4, 5},
                     .log = Log(lines, LogLevel::Warn)},
                    store, known, Deadline::after(20s));
  });
  const net::Address where =
      net::Address::parse(text_of(store.wait("comm/tcp/0", Deadline::after(10s))));
  // Returns the connection if it was accepted.
  const auto call = [&](const std::string& purpose) {
    auto peer = std::make_unique<net::RawPeer>(where);
    const auto handshake = known->begin(net::Side::Client, purpose);
    return peer->shake(*handshake) ? std::move(peer) : nullptr;
  };
  const Preface right{.epoch = 7, .mesh = 3, .worker = 5, .rank = 1};
  const auto expect_refused = [&](Preface stale) {
    EXPECT_EQ(call(stale.to_bytes()), nullptr) << stale.to_text();
    EXPECT_NE(lines->all().find("it is " + stale.to_text()), std::string::npos) << lines->all();
  };
  std::unique_ptr<net::RawPeer> connection;
  for (const bool is_right_there : {false, true}) {
    if (is_right_there) connection = call(right.to_bytes());
    expect_refused({.epoch = 6, .mesh = 3, .worker = 5, .rank = 1});
    expect_refused({.epoch = 7, .mesh = 3, .worker = 1, .rank = 1});
    expect_refused({.epoch = 7, .mesh = 2, .worker = 5, .rank = 1});
    expect_refused({.epoch = 7, .mesh = 3, .worker = 5, .rank = 2});
    expect_refused({.epoch = 7, .mesh = 3, .worker = 4, .rank = 0});
    expect_refused({.epoch = 7, .mesh = 3, .worker = 5, .rank = 1, .stream = 2});
    EXPECT_EQ(call("a worker"), nullptr);
  }
  ASSERT_NE(connection, nullptr);
  Preface second = right;
  second.stream = 1;
  const auto other = call(second.to_bytes());
  ASSERT_NE(other, nullptr);
  first.join();
  ASSERT_NE(mesh, nullptr);
  mesh.reset();
  EXPECT_EQ(connection->hear().size(), sizeof(WireHeader))
      << "the goodbye is sent on the accepted connection";
}

// The address is in the store, but another process of the job now uses the port.
TEST(Assemble, AnotherServerAtTheAddressIsNotAccepted) {
  cluster::LocalStore store;
  const auto known = credentials(net::Secret::generate());
  net::Server::Options options;
  options.address = net::Address::tcp("127.0.0.1", 0);
  options.credentials = known;
  const net::Server server(std::move(options), {});
  store.set("comm/tcp/0", bytes_of(server.address().to_text()), Deadline::after(1s));
  try {
    assemble({.rank = 1, .size = 2, .epoch = 7}, store, known, Deadline::after(5s));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unreachable);
    EXPECT_NE(error.message().find("is no longer worker 0 as rank 0 of epoch 7"), std::string::npos)
        << error.what();
  }
}

TEST(Assemble, RanksConnectOverIpv6) {
  try {
    net::Listener probe(net::Address::tcp("::1", 0));
  } catch (const Error& error) {
    GTEST_SKIP() << "NO IPv6 HERE, NOT TESTED: " << error.what();
  }
  run_tcp_ranks({.count = 3, .streams = 2, .host = "::1"}, [](const Group& group) {
    std::vector<float> data(1000, static_cast<float>(group.rank() + 1));
    group.all_reduce(span(data), ReduceOp::Sum).wait();
    EXPECT_EQ(data, std::vector<float>(1000, 6.0f));
  });
}

TEST(Assemble, NamesTheRanksThatDidNotConnect) {
  cluster::LocalStore store;
  try {
    assemble({.rank = 0, .size = 3}, store, credentials(net::Secret::generate()),
             Deadline::after(200ms));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
    EXPECT_NE(std::string(error.what()).find("ranks 1, 2"), std::string::npos) << error.what();
  }
}

TEST(Assemble, NamesRanksWithMissingConnections) {
  cluster::LocalStore store;
  const net::Secret secret = net::Secret::generate();
  testing::run_rank_threads(2, [&](int rank) {
    // The two have different numbers of streams: rank 0 waits for a second one.
    try {
      assemble({.rank = rank, .size = 2, .streams = rank == 0 ? 2 : 1}, store, credentials(secret),
               Deadline::after(500ms));
      EXPECT_EQ(rank, 1);
    } catch (const Error& error) {
      EXPECT_EQ(rank, 0);
      EXPECT_NE(std::string(error.what()).find("1 (1 of 2 connections)"), std::string::npos)
          << error.what();
    }
  });
}

TEST(Assemble, AnotherSecretIsRefused) {
  cluster::LocalStore store;
  std::thread first([&] {
    EXPECT_THROW(assemble({.rank = 0, .size = 2}, store, credentials(net::Secret::generate()),
                          Deadline::after(1s)),
                 Error);
  });
  EXPECT_THROW(assemble({.rank = 1, .size = 2}, store, credentials(net::Secret::generate()),
                        Deadline::after(1s)),
               Error);
  first.join();
}

}  // namespace
}  // namespace trireme::comm::tcp
