// Goal:   ranks find and authenticate each other over TCP while strangers knock; a rank that does
//         not come is named.
// Method: ranks as threads through an in-process store; strangers are raw sockets.

#include "trireme/comm/tcp/assemble.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/comm/tcp_ranks.h"
#include "trireme/comm/tcp/mesh.h"
#include "trireme/net/listener.h"
#include "trireme/net/socket.h"
#include "trireme/testing/in_time.h"

namespace trireme::comm::tcp {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<net::SecretCredentials> credentials(const net::Secret& secret) {
  return std::make_shared<net::SecretCredentials>(secret, net::Identity{"a rank", "worker"});
}

TEST(Assemble, StrangersDoNotHoldTheRanksUp) {
  cluster::LocalStore store;
  const net::Secret secret = net::Secret::generate();
  std::atomic<int> knocks{0};
  // Half-open connections to rank 0 and garbage, as fast as they go, until its door is closed.
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
      // The ranks are complete and listen no more.
    }
  });
  const TimePoint begin = steady_clock().now();
  testing::run_rank_threads(3, [&](int rank) {
    const Deadline strangers_first = Deadline::after(5s);
    while (rank == 2 && knocks < 20 && !strangers_first.is_past()) std::this_thread::yield();
    assemble({.rank = rank, .size = 3}, store, credentials(secret), Deadline::after(20s));
  });
  testing::expect_in_time(steady_clock().now() - begin, 10s);
  stranger.join();
  EXPECT_GE(knocks, 20);
}

TEST(Assemble, RanksMeetOverIpv6) {
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

TEST(Assemble, NamesWhoDidNotCome) {
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

TEST(Assemble, NamesWhoseConnectionsAreIncomplete) {
  cluster::LocalStore store;
  const net::Secret secret = net::Secret::generate();
  testing::run_rank_threads(2, [&](int rank) {
    // The two disagree on the number of streams: rank 0 waits for a second one.
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
