// Goal:   a Server shuts down cleanly in every state, runs posted tasks, limits its sessions, and
//         survives more connections than it has descriptors for.
// Method: live servers in this process with measured times; a temporarily lowered descriptor limit.

#include "trireme/net/server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/net/raw_peer.h"
#include "tests/net/rig.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::net {
namespace {

TEST(Server, ListensOnLoopbackByDefault) {
  Rig rig;
  EXPECT_EQ(rig.server->address().host, "127.0.0.1");
  EXPECT_NE(rig.server->address().port, 0);
}

TEST(Server, EveryPendingCallFailsWhenTheServerIsDestroyed) {
  Rig rig;
  constexpr int kCallers = 12;
  std::vector<std::thread> threads;
  Client shared = rig.join();
  for (int i = 0; i < kCallers; ++i) {
    threads.emplace_back([&, i] {
      // Half of them share a connection; a third of them wait for a stream.
      std::optional<Client> own;
      if (i % 2 == 1) own.emplace(rig.join());
      Client& client = own ? *own : shared;
      const Error error = error_of([&] {
        if (i % 3 == 0) {
          ReplyStream stream = client.open(kHold, {}, soon());
          stream.next(soon());
        } else {
          client.call(kHold, {}, soon());
        }
      });
      EXPECT_EQ(error.code(), ErrorCode::PeerLost) << error.what();
      EXPECT_NE(error.message().find("coordinator at tcp://"), std::string::npos);
    });
  }
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == kCallers; }));
  rig.server.reset();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(rig.service->sessions_ended, 1 + kCallers / 2);
  EXPECT_FALSE(shared.is_open());
  EXPECT_EQ(error_of([&] { shared.call(kEcho, {}, soon()); }).code(), ErrorCode::PeerLost);
  rig.service->release();
}

TEST(Server, RemovesItsSocketAndReleasesAllResources) {
  const TemporaryFolder folder("server-test");
  const int before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    Server::Options options;
    options.address = Address::unix_socket((folder.path() / "ctl").string());
    Rig rig(options);
    Client client = rig.join();
    client.call(kEcho, {}, soon());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Server, AClientDestroyedWithStreamsOpenEndsItsSession) {
  Rig rig;
  {
    Client client = rig.join();
    ReplyStream first = client.open(kHold, {}, soon());
    ReplyStream second = client.open(kHold, {}, soon());
    ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 2; }));
    Client moved = std::move(client);
  }
  EXPECT_TRUE(eventually([&] { return rig.service->sessions_ended == 1; }));
  for (const auto& caller : rig.service->held()) EXPECT_FALSE(caller->send_item(Bytes(3)));
  EXPECT_EQ(rig.server->counters().sessions_cut, 0u)
      << "a client that leaves is not counted as an error";
}

TEST(Server, AStreamKeepsTheConnectionAlive) {
  Rig rig;
  auto client = std::make_unique<Client>(rig.join());
  ReplyStream stream = client->open(kHold, {}, soon());
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 1; }));
  client.reset();
  EXPECT_TRUE(rig.service->held().at(0)->send_item(bytes_of("still")));
  EXPECT_EQ(text_of(stream.next(soon()).value()), "still");
}

TEST(Server, RunsPostedTasksInOrderOnOneThreadWithoutSignals) {
  Rig rig;
  std::vector<int> seen;
  std::set<std::thread::id> threads;
  std::atomic<bool> is_done = false;
  for (int i = 0; i < 1000; ++i) {
    rig.server->post([&, i] {
      seen.push_back(i);
      threads.insert(std::this_thread::get_id());
      if (i == 500) throw std::runtime_error("a failed task must not affect the others");
    });
  }
  rig.server->post([&] {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    EXPECT_EQ(sigismember(&mask, SIGINT), 1);
    EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
    is_done = true;
  });
  ASSERT_TRUE(eventually([&] { return is_done.load(); }));
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST(Server, ThePostedTaskQueueIsBounded) {
  std::atomic<bool> go_on = false;  // outlives the task that reads it
  Rig rig;
  rig.server->post([&] {
    while (!go_on) std::this_thread::sleep_for(1ms);
  });
  const Error error = error_of([&] {
    for (int i = 0; i < 100'000; ++i) rig.server->post([] {});
  });
  go_on = true;
  EXPECT_EQ(error.code(), ErrorCode::Exhausted);
}

TEST(Server, TheNumberOfMembersIsBounded) {
  Server::Options options;
  options.sessions_max = 2;
  Rig rig(options);
  Client first = rig.join();
  auto second = std::make_unique<Client>(rig.join());
  first.call(kEcho, {}, soon());
  second->call(kEcho, {}, soon());
  const Error error = error_of([&] {
    Client third({.address = rig.server->address(), .credentials = &rig.client_credentials},
                 Deadline::after(100ms));
  });
  EXPECT_TRUE(error.code() == ErrorCode::Unreachable || error.code() == ErrorCode::Deadline);
  EXPECT_GE(rig.server->counters().strangers_crowded_out, 1u);
  // A client that keeps retrying gets the place of a client that disconnects.
  std::thread fourth([&] { EXPECT_NO_THROW(rig.join().call(kEcho, {}, soon())); });
  second.reset();
  fourth.join();
}

TEST(Server, WithoutDescriptorsRefusesNewConnectionsAndServesOthers) {
  Rig rig;
  Client member = rig.join();
  std::vector<Socket> sockets;
  for (int i = 0; i < 40; ++i) sockets.push_back(make_socket(AF_INET));
  const SocketAddress where = resolve(rig.server->address()).front();
  // From here on this process cannot open additional descriptors.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const Descriptor highest(dup(0));
  rlimit lowered = before;
  lowered.rlim_cur = static_cast<rlim_t>(highest.get()) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lowered), 0);
  for (const Socket& each : sockets) {
    (void)::connect(each.descriptor(), reinterpret_cast<const sockaddr*>(&where.storage),
                    where.size);
  }
  for (int i = 0; i < 20; ++i) member.call(kEcho, Bytes(100), soon());
  const bool all_turned_away =
      eventually([&] { return rig.server->counters().strangers_crowded_out == 40; });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(all_turned_away) << rig.server->counters().strangers_crowded_out;
  EXPECT_NO_THROW(rig.join().call(kEcho, {}, soon()));
}

TEST(Server, AThousandClientsAreServed) {
  const TemporaryFolder folder("server-test");
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 3000) GTEST_SKIP() << "ONLY " << limit.rlim_cur << " DESCRIPTORS ALLOWED";
  Server::Options options;
  options.address = Address::unix_socket((folder.path() / "ctl").string());
  Rig rig(options);
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int t = 0; t < 20; ++t) {
    threads.emplace_back([&] {
      std::vector<Client> clients;
      for (int i = 0; i < 50; ++i) {
        clients.push_back(rig.join());
        for (int k = 0; k < 10; ++k) {
          if (clients.back().call(kEcho, Bytes(16), soon()).size() == 16) ++answered;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(answered, 10'000);
  EXPECT_EQ(rig.server->counters().sessions_accepted, 1000u);
}

}  // namespace
}  // namespace trireme::net
